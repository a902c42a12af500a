// Command report measures whole runs of oh beside a program that does the same
// with nothing else (bench/floor), in the same minute on the same machine, and
// prints one table. Runs of the two take turns, so that a busy machine
// slows both; what is printed are medians.
//
//	go run ./bench/cmd/report -oh ./bin/oh
//
// It needs Go, bash and a Unix system for peak memory and processor time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == launchWord {
		os.Exit(launch(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := report(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// errMissed says that -strict was asked for and a bar was missed.
var errMissed = errors.New("a bar was missed")

func report(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	oh := flags.String("oh", "", "the binary to measure; built when empty")
	only := flags.String("only", "", "measure only the items whose name holds this")
	effort := flags.Float64("effort", 1, "how many runs, as a share of the usual number")
	strict := flags.Bool("strict", false, "exit with 1 when a bar is missed")
	keys := flags.Bool("items", false, "list the items and measure nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *keys {
		for _, it := range items() {
			fmt.Fprintln(out, it.name)
		}
		return nil
	}
	l, err := newLab(ctx, *oh, *effort)
	if err != nil {
		return err
	}
	defer l.close()
	var rows []row
	for _, it := range items() {
		if !strings.Contains(it.name, *only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s ...\n", it.name)
		got, err := it.measure(l)
		if err != nil {
			return fmt.Errorf("%s: %w", it.name, err)
		}
		rows = append(rows, got...)
	}
	fmt.Fprintf(out, "%s, %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if l.load != "" {
		fmt.Fprintf(out, ", load before %s", l.load)
	}
	fmt.Fprint(out, "\nmedians of interleaved runs; answer to request: median of the turns, best run\n\n")
	missed := writeTable(out, rows)
	if *strict && missed > 0 {
		return errMissed
	}
	return nil
}
