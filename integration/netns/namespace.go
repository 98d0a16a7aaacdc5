package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace. It is safe for concurrent use.
type Namespace struct {
	Name string // for messages only
	file *os.File
}

// New makes a namespace with its loopback interface up, and without IPv6, whose
// own chatter would only blur captures.
func New(ctx context.Context, name string) (*Namespace, error) {
	n := &Namespace{Name: name}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make namespace %s: %w", name, err)
		}
		var err error
		n.file, err = current()
		return err
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		n.Set("ipv6/conf/all/disable_ipv6", "1"),
		n.Set("ipv6/conf/default/disable_ipv6", "1"),
		n.Run(ctx, "ip link set lo up"))
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Set sets a kernel parameter of the namespace, named as below /proc/sys/net.
func (n *Namespace) Set(parameter, value string) error {
	return n.Do(func() error { return os.WriteFile(filepath.Join("/proc/sys/net", parameter), []byte(value), 0) })
}

// current opens the namespace of this thread.
func current() (*os.File, error) {
	return os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
}

// onThread calls do on a thread of its own use, and puts the thread back into the
// namespace that it was in. A thread that cannot go back is given up.
func onThread(do func() error) error {
	runtime.LockOSThread()
	before, err := current()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer before.Close()
	err = do()
	if back := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, fmt.Errorf("go back to the first namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// Do calls do inside the namespace. Sockets that it opens itself and processes
// that it starts belong to the namespace; goroutines that it starts do not.
func (n *Namespace) Do(do func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter namespace %s: %w", n.Name, err)
		}
		return do()
	})
}

// Start starts a command inside the namespace.
func (n *Namespace) Start(cmd *exec.Cmd) error { return n.Do(cmd.Start) }

// Run runs a command line, split at white space, inside the namespace. The error
// says what it printed.
func (n *Namespace) Run(ctx context.Context, line string) error {
	_, err := n.Output(ctx, line)
	return err
}

// Output is Run that returns what the command printed.
func (n *Namespace) Output(ctx context.Context, line string) (string, error) {
	words := strings.Fields(line)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := n.Start(cmd); err != nil {
		return "", fmt.Errorf("%s: %s: %w", n.Name, line, err)
	}
	if err := cmd.Wait(); err != nil {
		return out.String(), fmt.Errorf("%s: %s: %w: %s", n.Name, line, err, strings.TrimSpace(out.String()))
	}
	return out.String(), nil
}

// Processes are the ids of the processes that run in the namespace.
func (n *Namespace) Processes() ([]int, error) {
	own, err := n.file.Stat()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !os.SameFile(own, info) {
			continue // it has ended, or runs elsewhere
		}
		id, err := strconv.Atoi(strings.Split(path, "/")[2])
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// path is where other processes find the namespace while it is open here.
func (n *Namespace) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.file.Fd()) }

// Close lets go of the namespace. It ends when no process runs in it any more.
func (n *Namespace) Close() error { return n.file.Close() }
