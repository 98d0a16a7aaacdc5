//go:build host

package packaging

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// daemon is a process that logs in JSON.
type daemon struct {
	t    *testing.T
	cmd  *exec.Cmd
	said said
	done chan error
}

// said is what a process has written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // holds one where there is more to read
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a daemon and waits until it logs that it is ready.
func start(t *testing.T, ns *netns.Namespace, cmd *exec.Cmd) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: cmd, said: said{more: make(chan struct{}, 1)}, done: make(chan error, 1)}
	cmd.Stderr, cmd.Stdout = &d.said, &d.said
	if err := ns.Start(cmd); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	go func() { d.done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, or the test has failed
	end := time.After(limit)
	for !strings.Contains(d.said.String(), `"msg":"ready"`) {
		select {
		case <-d.said.more:
		case err := <-d.done:
			t.Fatalf("%s ended with %v:\n%s", cmd.Path, err, d.said.String())
		case <-end:
			t.Fatalf("%s is not ready:\n%s", cmd.Path, d.said.String())
		}
	}
	return d
}

// stop ends a daemon as systemd does, and wants it to end well.
func (d *daemon) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	select {
	case err := <-d.done:
		if err != nil {
			d.t.Errorf("%s ended with %v:\n%s", d.cmd.Path, err, d.said.String())
		}
	case <-time.After(limit):
		d.t.Fatalf("%s does not end", d.cmd.Path)
	}
}

// capabilities are those of a process that count, as /proc shows them.
func capabilities(t *testing.T, pid int) string {
	t.Helper()
	for line := range strings.Lines(read(t, fmt.Sprintf("/proc/%d/status", pid))) {
		if mask, ok := strings.CutPrefix(line, "CapEff:\t"); ok {
			return strings.TrimSpace(mask)
		}
	}
	t.Fatal("the process has no CapEff")
	return ""
}

// child is the one process that a process has started.
func child(t *testing.T, pid int) int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range lists {
		all = append(all, strings.Fields(read(t, list))...)
	}
	if len(all) != 1 {
		t.Fatalf("process %d has the children %v", pid, all)
	}
	n, err := strconv.Atoi(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
