#!/bin/sh
# Prints the sum of its arguments.
total=0
shift
for n in "$@"; do
  total=$((total + n))
done
echo "$total"
