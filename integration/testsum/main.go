// Command testsum reads what `go test -json` prints, shows it as go test does, and
// fails on a test that failed, a test that was skipped and a run without tests.
// With -add it appends its lines and counts to a file; with -total it prints
// what that file has, the sum last.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errs io.Writer) int {
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	flags.SetOutput(errs)
	add := flags.String("add", "", "append the result to this file")
	total := flags.String("total", "", "print the results in this file")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var err error
	var good bool
	if *total != "" {
		good, err = printTotal(*total, out)
	} else {
		good, err = summarise(in, out, *add)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(errs, "testsum:", err) // nowhere else to say it
		return 2
	case !good:
		return 1
	}
	return 0
}
