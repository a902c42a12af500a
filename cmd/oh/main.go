// Command oh is an agent harness for the terminal. See README.md.
package main

import (
	"os"

	"github.com/openharness/oh/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
