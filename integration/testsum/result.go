package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// result is what -add keeps of a run.
type result struct {
	Lines  []string
	Counts counts
}

// summarise follows a run, prints its sum and reports whether it is good.
func summarise(in io.Reader, out io.Writer, add string) (bool, error) {
	t := tally{out: out}
	if err := t.follow(in); err != nil {
		return false, fmt.Errorf("read go test's output: %w", err)
	}
	for _, s := range t.skipped {
		t.print("skipped: " + s + "\n")
	}
	t.print(t.String() + "\n")
	if t.counts == (counts{}) {
		t.print("no test ran\n")
	}
	if add != "" {
		if err := appendResult(add, result{Lines: t.lines, Counts: t.counts}); err != nil {
			return false, err
		}
	}
	return t.good(), nil
}

func appendResult(path string, r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write a result: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the results: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// printTotal prints the package lines of all runs in a file and then their sum.
func printTotal(path string, out io.Writer) (bool, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // no run got so far
		return false, fmt.Errorf("read the results: %w", err)
	}
	var sum counts
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var r result
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return false, fmt.Errorf("read the results in %s: %w", path, err)
		}
		for _, line := range r.Lines {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return false, fmt.Errorf("print the results: %w", err)
			}
		}
		sum.Passed += r.Counts.Passed
		sum.Failed += r.Counts.Failed
		sum.Skipped += r.Counts.Skipped
	}
	_, err = fmt.Fprintln(out, sum)
	return sum.good(), err
}
