package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rackboot/integration/benchreport"
	"rackboot/integration/netns"
)

// Each pair of namespaces has the same addresses.
const (
	serverAddress = "10.99.0.1"
	clientAddress = "10.99.0.2"
	prefix        = "10.99.0.0/16"
	poolFrom      = "10.99.1.0"
	poolTo        = "10.99.250.255"
	serverDevice  = "srv0"
	clientDevice  = "cl0"

	startTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
)

// contestant is a server in its namespace, with the namespace of its clients.
type contestant struct {
	name           string
	dir            string
	server, client *netns.Namespace
	cmd            *exec.Cmd
	ended          chan struct{}
}

// command makes a program that runs as long as the server serves. dir is its own.
type command func(dir string) (*exec.Cmd, error)

// enter starts a server in a new pair of namespaces. The error missing says that
// its program is not installed.
func enter(ctx context.Context, name string, make command, ready func(context.Context, *contestant) bool) (*contestant, error) {
	dir, err := os.MkdirTemp("", "rackboot-bench-")
	if err != nil {
		return nil, err
	}
	c := &contestant{name: name, dir: dir}
	if err := c.start(ctx, make, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), c.leave())
	}
	return c, nil
}

func (c *contestant) start(ctx context.Context, make command, ready func(context.Context, *contestant) bool) (err error) {
	if err := os.Chmod(c.dir, 0o755); err != nil { //nolint:gosec // servers that drop their rights read files here
		return err
	}
	if c.cmd, err = make(c.dir); err != nil {
		return err
	}
	if c.server, err = netns.New(ctx, c.name+" server"); err != nil {
		return err
	}
	if c.client, err = netns.New(ctx, c.name+" client"); err != nil {
		return err
	}
	if err := netns.Cable(ctx,
		netns.Port{Namespace: c.server, Name: serverDevice, Address: serverAddress + "/16"},
		netns.Port{Namespace: c.client, Name: clientDevice, Address: clientAddress + "/16"}); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := c.server.Start(c.cmd); err != nil {
		return err
	}
	c.ended = closed(c.cmd)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for !ready(ctx, c) {
		select {
		case <-c.ended:
			return errors.New("it has ended: " + c.log())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %s: %w", c.log(), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// closed waits for a command in the background.
func closed(cmd *exec.Cmd) chan struct{} {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // nobody asks how
		close(ended)
	}()
	return ended
}

func (c *contestant) log() string {
	raw, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return oneLine(string(raw))
}

// leave ends the server, and takes away namespaces and files.
func (c *contestant) leave() error {
	var errs []error
	if c.ended != nil {
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-c.ended:
		case <-time.After(stopTimeout):
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // its own group
			<-c.ended
		}
	}
	for _, n := range []*netns.Namespace{c.server, c.client} {
		if n != nil {
			errs = append(errs, n.Close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// listens says that a server is ready by its socket, as ss prints it.
func listens(socket string) func(context.Context, *contestant) bool {
	return func(ctx context.Context, c *contestant) bool {
		out, err := c.server.Output(ctx, "ss -H -l -n "+socket)
		return err == nil && strings.TrimSpace(out) != ""
	}
}

// entered starts the servers that are installed; what is missing is a figure.
func entered(ctx context.Context, r *benchreport.Report, what string, list []entry) (in []*contestant, err error) {
	for _, e := range list {
		if _, missing := exec.LookPath(e.program); missing != nil {
			r.Add(benchreport.Figure{What: what, Subject: e.name, Missing: e.program + " is not installed"})
			continue
		}
		c, err := enter(ctx, e.name, e.command, e.ready)
		if err != nil {
			return in, err
		}
		in = append(in, c)
	}
	return in, nil
}

// entry is a server that may take part.
type entry struct {
	name    string
	program string
	command command
	ready   func(context.Context, *contestant) bool
}

// leaveAll ends all servers.
func leaveAll(in []*contestant) (err error) {
	for _, c := range in {
		err = errors.Join(err, c.leave())
	}
	return err
}

// used sums over the processes in the server's namespace.
func (c *contestant) used() (u benchreport.Usage, err error) {
	ids, err := c.server.Processes()
	if err != nil {
		return u, err
	}
	for _, id := range ids {
		if err := u.Add(id); err != nil {
			return u, err
		}
	}
	return u, nil
}
