package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// told is what a child of clients says at its end.
type told struct {
	Took time.Duration
	// Requests is how many were answered, where that is what counts.
	Requests int
	// Resent is how many packets the clients had to send again.
	Resent int
	// CPU is what the clients used.
	CPU time.Duration
}

// tell prints what the clients did, with the time of their processor.
func tell(t told, err error) error {
	if err != nil {
		return err
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	t.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	b, err := json.Marshal(t)
	if err == nil {
		fmt.Println(string(b))
	}
	return err
}

// ask has a child of clients do a job, and returns what it says.
func (c *contestant) ask(ctx context.Context, j job) (t told, err error) {
	out, err := c.clients(ctx, j)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal([]byte(out), &t)
}

// fetch has a child fetch in the namespace of the clients, and returns how long it
// says that took.
func (c *contestant) fetch(ctx context.Context, j job) (time.Duration, error) {
	t, err := c.ask(ctx, j)
	return t.Took, err
}

// clients has a child work in the namespace of the clients, and returns what it says.
func (c *contestant) clients(ctx context.Context, j job) (string, error) {
	cmd, err := self(j)
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := c.client.Start(cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%s: %s: %w: %s", c.name, j.What, err, oneLine(said.String()))
	}
	return out.String(), nil
}
