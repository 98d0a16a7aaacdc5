package firmware

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// stopTimeout is how long a process may take to end when asked to.
const stopTimeout = time.Minute

// process is a program that runs inside a namespace until the test ends.
type process struct {
	name   string
	cmd    *exec.Cmd
	ended  chan struct{}
	err    error // valid once ended is closed
	asked  bool
	stdout string // files
	stderr string
}

// start starts a program whose output goes to files in the run's folder. It dies
// with the test program, however that ends; in a process namespace of its own, so
// does all that it starts.
func (s *site) start(t *testing.T, ns *netns.Namespace, name string, own bool, program string, args ...string) *process {
	t.Helper()
	p := &process{
		name: name, cmd: exec.Command(program, args...), ended: make(chan struct{}),
		stdout: filepath.Join(s.dir, name+".out"), stderr: filepath.Join(s.dir, name+".log"),
	}
	stdout, err := os.Create(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	stderr, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if own {
		p.cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	}
	if err := ns.Start(p.cmd); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	s.processes = append(s.processes, p)
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	})
	return p
}

// stop asks the process to end, kills it if it does not, and returns how it ended.
func (p *process) stop() error {
	if !p.asked {
		p.asked = true
		select {
		case <-p.ended:
			return fmt.Errorf("ended by itself: %w", p.err)
		default:
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may end just now
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill() // it may end just now
		<-p.ended
		return fmt.Errorf("did not end within %s", stopTimeout)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM {
		return nil // it does not handle the signal
	}
	return p.err
}

// stop asks the process of a name to end, and waits for it.
func (s *site) stop(t *testing.T, name string) {
	t.Helper()
	for _, p := range s.processes {
		if p.name != name {
			continue
		}
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// kill ends the process without asking it.
func (p *process) kill() error {
	p.asked = true
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	<-p.ended
	p.err = nil // as it was to be
	return nil
}

// alive fails if one of the processes has ended by itself.
func (s *site) alive() error {
	for _, p := range s.processes {
		select {
		case <-p.ended:
			if !p.asked {
				said, _ := os.ReadFile(p.stderr) // only to say more
				return fmt.Errorf("%s has ended: %w\n%s", p.name, p.err, said)
			}
		default:
		}
	}
	return nil
}
