package statetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// envNamed is the point at which a child of a Flow dies.
const envNamed = "RACKBOOT_STATETEST_POINT"

// Flow is a program that runs in a child process while the test goes on beside it:
// what must survive the child's death, such as its peers, lives in the test. Its
// goroutines may pass points in any order, so that a point is named.
type Flow struct{ t *testing.T }

// NewFlow is to be called once, before anything else in the test: in a child it
// runs main and does not return.
func NewFlow(t *testing.T, main func(Run)) *Flow {
	t.Helper()
	if isChild(t) {
		runNamed(main)
	}
	return &Flow{t}
}

// Process is a child that runs the flow.
type Process struct {
	cmd *exec.Cmd
	// Ended is closed when the process has ended.
	Ended chan struct{}

	mu     sync.Mutex
	passed map[string]int
	acked  []string
	out    strings.Builder
}

// Start runs the flow on dir in a child that dies of SIGKILL when it comes to the
// point for the passage-th time, from 1. With passage 0 it never does. It is
// killed at the end of the test at the latest.
func (f *Flow) Start(dir, point string, passage int) *Process {
	f.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		f.t.Fatal(err)
	}
	p := &Process{Ended: make(chan struct{}), passed: map[string]int{}}
	p.cmd = exec.Command(os.Args[0], "-test.run="+runPattern(f.t.Name()), "-test.count=1")
	p.cmd.Env = append(os.Environ(), envTest+"="+f.t.Name(), envDir+"="+dir, envNamed+"="+point, fmt.Sprintf("%s=%d", envKill, passage))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.ExtraFiles = []*os.File{w}
	err = p.cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(p.Ended)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			p.take(sc.Text())
		}
		_ = r.Close()    // it was read to its end
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	f.t.Cleanup(p.Kill)
	return p
}

func (p *Process) take(line string) {
	kind, name, _ := strings.Cut(line, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kind {
	case linePoint:
		p.passed[name]++
	case lineAck:
		p.acked = append(p.acked, name)
	}
}

// Passed is how often the child has come to each point so far.
func (p *Process) Passed() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int{}
	for k, v := range p.passed {
		out[k] = v
	}
	return out
}

// Acked says whether the child has acknowledged a line.
func (p *Process) Acked(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.acked {
		if a == line {
			return true
		}
	}
	return false
}

// Kill ends the child with SIGKILL and waits until it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.Ended
}

// Output is what the child printed; it is complete once the child has ended.
func (p *Process) Output() string {
	<-p.Ended
	return p.out.String()
}

// runNamed is the child's side; it does not return.
func runNamed(main func(Run)) {
	kill, err := strconv.Atoi(os.Getenv(envKill))
	if err != nil {
		panic(err)
	}
	p, at := openPipe(), os.Getenv(envNamed)
	var mu sync.Mutex
	passed := 0
	main(Run{
		Dir: os.Getenv(envDir),
		Crash: func(point string) {
			mu.Lock()
			defer mu.Unlock()
			p.line(linePoint, point)
			if point != at {
				return
			}
			if passed++; passed == kill {
				die()
			}
		},
		Ack: func(s string) { p.line(lineAck, s) },
	})
	p.line(lineDone, "")
	die()
}
