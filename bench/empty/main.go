// Command empty does nothing. Its time is what starting any Go program costs.
package main

func main() {}
