package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// edit is one change of one file.
type edit struct {
	what  string // what it breaks
	file  string // below the module
	tests string // for go test -run
	old   string
	new   string
}

// verdict is what became of an edit.
type verdict string

const (
	killed   verdict = "noticed"
	survived verdict = "SURVIVED"
	broken   verdict = "BROKEN" // it does not apply, does not build or runs no test
)

type result struct {
	edit    edit
	verdict verdict
	output  string // of go test, where the edit was not noticed
}

// testLimit bounds the tests of one edit, some of which make a test hang.
const testLimit = time.Minute

// parse reads a list.
func parse(list string) ([]edit, error) {
	var edits []edit
	for block := range strings.SplitSeq(list, "\n\n") {
		var e edit
		var before, after []string
		for line := range strings.SplitSeq(strings.Trim(block, "\n"), "\n") {
			switch {
			case line == "", strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "- "):
				before = append(before, line[2:])
			case strings.HasPrefix(line, "+ "):
				after = append(after, line[2:])
			case e.what == "":
				// The tests may have bars of their own.
				head := strings.SplitN(line, " | ", 3)
				if len(head) != 3 {
					return nil, fmt.Errorf("%q is not: what | file | tests", line)
				}
				e.what, e.file, e.tests = head[0], head[1], head[2]
			default:
				return nil, fmt.Errorf("%s: %q is no line of a block", e.what, line)
			}
		}
		if e.what == "" && before == nil {
			continue
		}
		e.old, e.new = strings.Join(before, "\n"), strings.Join(after, "\n")
		if e.what == "" || e.old == "" || after == nil || e.old == e.new {
			return nil, fmt.Errorf("%q: a block lacks something", e.what+e.old)
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// matching are the edits whose first line contains a text.
func matching(edits []edit, text string) []edit {
	var some []edit
	for _, e := range edits {
		if strings.Contains(e.what+" | "+e.file+" | "+e.tests, text) {
			some = append(some, e)
		}
	}
	return some
}

// apply is the text of the file with the edit. It fails if the old lines are not
// there exactly once.
func (e edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.old); n != 1 {
		return "", fmt.Errorf("%s: the old lines are %d times in %s", e.what, n, e.file)
	}
	return strings.Replace(text, e.old, e.new, 1), nil
}

// try runs the tests of an edit over a copy of its file in dir.
func (e edit) try(ctx context.Context, root, dir string) result {
	overlay, err := e.overlay(root, dir)
	if err != nil {
		return result{verdict: broken, output: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 4*testLimit)
	defer cancel()
	args := []string{"test", "-count=1", "-failfast", "-vet=off", "-timeout=" + testLimit.String(), "-overlay=" + overlay, "-run=" + e.tests, "./" + path.Dir(e.file)}
	if e.rapid() {
		args = append(args, "-rapid.nofailfile") // the tree stays as it is
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return judge(ctx.Err(), string(out), err)
}

// rapid says whether the package has the flags of rapid.
func (e edit) rapid() bool { return path.Dir(e.file) == "protocol/decide" }

// pass runs the packages of the edits as they are: a test that fails anyway would
// notice everything.
func pass(ctx context.Context, root string, edits []edit) error {
	seen := make(map[string]bool)
	for _, e := range edits {
		pkg := "./" + path.Dir(e.file)
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout="+(4*testLimit).String(), pkg)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// judge reads what go test said.
func judge(ended error, out string, err error) result {
	switch {
	case ended != nil, strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"), strings.Contains(out, "[no tests to run]"):
		return result{verdict: broken, output: out}
	case err == nil:
		return result{verdict: survived, output: out}
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic: "):
		return result{verdict: broken, output: out}
	}
	return result{verdict: killed}
}

// overlay writes the changed file and the JSON that tells go of it.
func (e edit) overlay(root, dir string) (string, error) {
	file := filepath.Join(root, filepath.FromSlash(e.file))
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	changed, err := e.apply(string(text))
	if err != nil {
		return "", err
	}
	own, err := os.MkdirTemp(dir, "edit-")
	if err != nil {
		return "", err
	}
	copied, overlay := filepath.Join(own, path.Base(e.file)), filepath.Join(own, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: copied}})
	return overlay, errors.Join(err, os.WriteFile(copied, []byte(changed), 0o600), os.WriteFile(overlay, replace, 0o600))
}

// moduleRoot is the folder of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

func indent(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}
