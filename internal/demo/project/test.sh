#!/bin/sh
# Tests total.sh: prints one line per case, exits 1 when one fails.
fail=0
check() {
  want=$1
  shift
  got=$(sh ./total.sh "$@")
  if [ "$got" = "$want" ]; then
    echo "ok    total $*"
  else
    echo "FAIL  total $*: got $got, want $want"
    fail=1
  fi
}
check 6 1 2 3
check 5 5
check 0 4 -4
exit $fail
