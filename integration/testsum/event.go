package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// counts are of tests and their subtests. A package that failed without a test
// of it counts as one.
type counts struct{ Passed, Failed, Skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

// good: all ran and all passed.
func (c counts) good() bool { return c.Passed > 0 && c.Failed == 0 && c.Skipped == 0 }

// A tally follows a run.
type tally struct {
	counts
	lines   []string // what go test says of each package
	skipped []string
	output  map[string]*bytes.Buffer // of tests that run, by package and name
	failed  map[string]int           // tests by package
	out     io.Writer
}

// follow reads events until the end. What is not an event, as the text of a
// failed build, it prints.
func (t *tally) follow(in io.Reader) error {
	t.output, t.failed = map[string]*bytes.Buffer{}, map[string]int{}
	for d := newLines(in); ; {
		line, err := d.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			t.print(string(line))
			continue
		}
		t.note(e)
	}
}

func (t *tally) print(s string) {
	_, _ = io.WriteString(t.out, s) // the exit code says what matters
}

func (t *tally) note(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		t.print(e.Output)
	case "output":
		if t.output[key] == nil {
			t.output[key] = &bytes.Buffer{}
		}
		t.output[key].WriteString(e.Output)
	case "pass", "skip", "fail":
		t.end(e, key)
	}
}

// end counts a test or a package and prints what it said if it did not pass.
func (t *tally) end(e event, key string) {
	said := ""
	if b := t.output[key]; b != nil {
		said = b.String()
		delete(t.output, key)
	}
	switch {
	case e.Test == "":
		t.endPackage(e, said)
	case e.Action == "pass":
		t.Passed++
	case e.Action == "skip":
		t.Skipped++
		t.skipped = append(t.skipped, key)
		t.print(said)
	default:
		t.Failed++
		t.failed[e.Package]++
		t.print(said)
	}
}

func (t *tally) endPackage(e event, said string) {
	if e.Action == "fail" {
		if t.failed[e.Package] == 0 {
			t.Failed++
		}
		// A test that a panic or a timeout ended has no end of its own.
		for key, b := range t.output {
			if strings.HasPrefix(key, e.Package+" ") {
				t.print(b.String())
				delete(t.output, key)
			}
		}
		t.print(said)
	}
	if e.Action != "skip" { // a package without tests
		word := map[string]string{"pass": "ok  ", "fail": "FAIL"}[e.Action]
		line := fmt.Sprintf("%s\t%s\t%.3fs", word, e.Package, e.Elapsed)
		t.lines = append(t.lines, line)
		t.print(line + "\n")
	}
}
