package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Process is a program that is started, killed, stopped and started again. Its methods are
// safe for concurrent use.
type Process struct {
	Name    string
	program string
	args    []string
	env     []string
	logFile string

	mu      sync.Mutex
	cmd     *exec.Cmd
	done    chan struct{}
	stopped bool
}

func newProcess(name, logFile, program string, env []string, args ...string) *Process {
	return &Process{Name: name, program: program, args: args, env: env, logFile: logFile}
}

// Start starts it, unless it runs. What it prints is added to its log file.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return nil
	}
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own
	cmd := exec.Command(p.program, p.args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), p.env...)
	// It dies with this process, and signals of the terminal do not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(done)
	}()
	p.cmd, p.done, p.stopped = cmd, done, false
	return nil
}

// running reports whether it runs. p.mu is held.
func (p *Process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Running reports whether it runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// signal sends a signal to it if it runs.
func (p *Process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// Kill kills it with SIGKILL and waits until it is gone.
func (p *Process) Kill() error {
	err := p.signal(syscall.SIGKILL)
	return errors.Join(err, p.await(10*time.Second))
}

// endsWithin is how long a daemon may take to end when it is told to.
const endsWithin = 20 * time.Second

// Terminate ends it with SIGTERM, as a service manager does, and waits until it is gone.
func (p *Process) Terminate() error {
	err := p.signal(syscall.SIGTERM)
	return errors.Join(err, p.await(endsWithin))
}

// Freeze and Thaw stop it with SIGSTOP, and let it go on.
func (p *Process) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets it go on.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

// Press presses the power button of a machine's process.
func (p *Process) Press() error { return p.signal(syscall.SIGUSR1) }

func (p *Process) await(within time.Duration) error {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-time.After(within):
		return fmt.Errorf("%s did not end within %s", p.Name, within)
	}
}

// Tail is the end of its log.
func (p *Process) Tail(n int) string {
	raw, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-n):])
}

// run runs a program to its end and returns what it printed, and its exit code; -1 where it
// did not end by itself.
func run(ctx context.Context, env []string, program string, args ...string) (out, errs string, code int) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = time.Second
	var stdout, stderr buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return stdout.String(), stderr.String(), exit.ExitCode()
	}
	if err != nil {
		return stdout.String(), filepath.Base(program) + ": " + err.Error(), -1
	}
	return stdout.String(), stderr.String(), 0
}

// maxOutput bounds what is kept of a program's output.
const maxOutput = 4 << 20

// buffer keeps the beginning of what is written to it.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p[:min(len(p), maxOutput-len(b.b))]...)
	return len(p), nil
}

func (b *buffer) String() string { return string(b.b) }
