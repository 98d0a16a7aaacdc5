// Command mutate takes behaviours out of the BMC driver, out of the BMC simulator and
// out of the decisions about boots, one at a time, and runs the tests that are to
// notice. It needs Go and nothing else, changes no file of the tree, and fails if an
// edit survives, does not build, or names no test.
//
//	go run ./integration/mutate [-j 2] [-only text] [driver.txt sim.txt decide.txt]
//
// Without names it takes driver.txt and sim.txt.
//
// A list has blocks, with an empty line between them. The first line of a block
// says what the edit breaks, the file, and the tests, as go test -run takes them
// and in the package of the file; then come the old lines after "- ", which are
// found exactly once in the file, and the new ones after "+ ". A line that begins
// with "#" is a comment.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	jobs := flag.Int("j", 2, "edits at a time")
	only := flag.String("only", "", "only edits whose first line contains this")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = []string{"driver.txt", "sim.txt"}
	}
	failed, err := run(ctx, os.Stdout, names, *only, *jobs)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d edits were not noticed", failed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries all edits of the lists and says which were not noticed, and returns
// how many. It fails if a list cannot be read or ctx ends.
func run(ctx context.Context, out io.Writer, names []string, only string, jobs int) (failed int, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "rackboot-mutate-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, name := range names {
		list, err := os.ReadFile(filepath.Join(root, "integration", "mutate", name))
		if err != nil {
			return 0, err
		}
		edits, err := parse(string(list))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		edits = matching(edits, only)
		if err := pass(ctx, root, edits); err != nil {
			return 0, fmt.Errorf("%s: without an edit: %w", name, err)
		}
		begun := time.Now()
		notNoticed := 0
		for r := range try(ctx, root, dir, edits, jobs) {
			if r.verdict != killed {
				notNoticed++
				fmt.Fprintf(out, "%-8s %s\n%s", r.verdict, r.edit.what, indent(r.output))
			}
		}
		failed += notNoticed
		fmt.Fprintf(out, "%s: %d of %d edits noticed, %s\n", name, len(edits)-notNoticed, len(edits), time.Since(begun).Round(time.Second))
	}
	return failed, ctx.Err()
}

// try runs the edits, so many at a time, and sends the results as they come.
func try(ctx context.Context, root, dir string, edits []edit, jobs int) <-chan result {
	results, next := make(chan result), make(chan edit)
	var workers sync.WaitGroup
	for range max(jobs, 1) {
		workers.Go(func() {
			for e := range next {
				r := e.try(ctx, root, dir)
				r.edit = e
				results <- r
			}
		})
	}
	go func() {
		for _, e := range edits {
			next <- e
		}
		close(next)
		workers.Wait()
		close(results)
	}()
	return results
}
