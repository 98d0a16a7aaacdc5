package statetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The environment of a child process.
const (
	envTest = "RACKBOOT_STATETEST_TEST" // the full name of the calling test
	envDir  = "RACKBOOT_STATETEST_DIR"  // the directory of the run
	envKill = "RACKBOOT_STATETEST_KILL" // the passage to die at: its number from 1, or point#number; 0 is never
)

// most bounds what may hang, so that the test can say what came of it. What works has
// whatever time the test has: a child that syncs thousands of writes takes minutes on a
// busy disk.
func most(t *testing.T) time.Duration {
	t.Helper()
	at, ok := t.Deadline()
	if !ok {
		return time.Hour
	}
	return time.Until(at) * 9 / 10
}

// reportFD is the child's end of the pipe to the parent: the first of
// exec.Cmd.ExtraFiles.
const reportFD = 3

// The lines on the pipe are one of these, a space and a name.
const (
	lineAck   = "ack"
	linePoint = "point"
	lineDone  = "done"
)

// isChild reports whether this process was started to run t's flow.
func isChild(t *testing.T) bool {
	t.Helper()
	name := os.Getenv(envTest)
	if name == "" {
		return false
	}
	if name != t.Name() {
		t.Fatalf("the child of %s came to the kill harness in %s first; make one call per test", name, t.Name())
	}
	return true
}

// pipe is the child's report to the parent. Each line is one write, so a
// line that the parent has read was complete before the kill.
type pipe struct{ f *os.File }

func openPipe() pipe { return pipe{os.NewFile(reportFD, "report")} }

func (p pipe) line(kind, name string) {
	if strings.ContainsRune(name, '\n') {
		panic(fmt.Sprintf("statetest: %q has a line break", name))
	}
	if _, err := p.f.WriteString(kind + " " + name + "\n"); err != nil {
		panic(fmt.Sprintf("statetest: report to the parent: %v", err))
	}
}

// die ends this process as a crash would: no deferred call, no flush.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// report is what a child wrote before it ended.
type report struct {
	acked  []string
	points []string
	done   bool // the flow returned
	killed bool // the child died of SIGKILL
}

// runChild runs the calling test's flow in a child. Each line is passed to
// seen, which may kill the process.
func runChild(t *testing.T, dir string, kill int, seen func(p *os.Process, r *report)) report {
	t.Helper()
	return runNamed(t, t.Name(), dir, strconv.Itoa(kill), seen)
}

// runNamed is runChild for the flow of the named test.
func runNamed(t *testing.T, name, dir, kill string, seen func(p *os.Process, r *report)) report {
	t.Helper()
	limit := most(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+runPattern(name), "-test.count=1", "-test.timeout="+limit.String())
	cmd.Env = append(os.Environ(), envTest+"="+name, envDir+"="+dir, envKill+"="+kill)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var rep report
	for sc := bufio.NewScanner(r); sc.Scan(); {
		kind, name, _ := strings.Cut(sc.Text(), " ")
		switch kind {
		case lineAck:
			rep.acked = append(rep.acked, name)
		case linePoint:
			rep.points = append(rep.points, name)
		case lineDone:
			rep.done = true
		}
		seen(cmd.Process, &rep)
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		ws, ok := exit.Sys().(syscall.WaitStatus)
		rep.killed = ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL && ctx.Err() == nil
	}
	if !rep.killed {
		t.Fatalf("the child was to die of SIGKILL, but: %v\n%s", err, out.String())
	}
	return rep
}

// runPattern selects exactly the named test; the name of a subtest has slashes,
// which -test.run splits at.
func runPattern(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}
