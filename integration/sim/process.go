package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a program that was started and is to be stopped.
type Process struct {
	cmd  *exec.Cmd
	log  *os.File
	name string
	done chan struct{}
	once sync.Once
	err  error
}

// StartProcess starts a program; its output goes to a file.
func StartProcess(logFile, program string, args ...string) (*Process, error) {
	f, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(program, args...), log: f, name: program, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	if err := p.cmd.Start(); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = f.Close() // the program has ended
		close(p.done)
	}()
	return p, nil
}

// stopTimeout is how long a program may take to end when asked to.
const stopTimeout = 20 * time.Second

// Stop asks the program to end, and kills it if it does not.
func (p *Process) Stop() error {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		select {
		case <-p.done:
		case <-time.After(stopTimeout):
			_ = p.cmd.Process.Kill() // it may end just now
			<-p.done
			p.err = fmt.Errorf("%s did not end within %s", p.name, stopTimeout)
		}
	})
	return p.err
}

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.done }

// run runs a program to its end, with more variables in its environment, and returns what
// it printed.
func run(ctx context.Context, env []string, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), fmt.Errorf("%s %v: exit code %d: %s", program, args, exit.ExitCode(), exit.Stderr)
	}
	return string(out), err
}
