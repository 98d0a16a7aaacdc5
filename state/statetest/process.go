package statetest

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

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

// Start runs the flow on dir in a child beside the test, which dies of SIGKILL when
// it passes the point for the passage-th time, from 1; with an empty point it never
// does. What must survive its death, such as its peers, lives in the test. It is
// killed at the end of the test at the latest.
func (c Child) Start(t testing.TB, dir, point string, passage int) *Process {
	t.Helper()
	kill := "0"
	if point != "" {
		kill = fmt.Sprintf("%s#%d", point, passage)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Ended: make(chan struct{}), passed: map[string]int{}}
	p.cmd = exec.Command(os.Args[0], "-test.run="+runPattern(c.name), "-test.count=1")
	p.cmd.Env = append(os.Environ(), envTest+"="+c.name, envDir+"="+dir, envKill+"="+kill)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.ExtraFiles = []*os.File{w}
	err = p.cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.Ended)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			p.take(sc.Text())
		}
		_ = r.Close()    // it was read to its end
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(p.Kill)
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
	maps.Copy(out, p.passed)
	return out
}

// Acked says whether the child has acknowledged a line.
func (p *Process) Acked(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.acked, line)
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
