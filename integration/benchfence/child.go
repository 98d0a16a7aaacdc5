package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"sync"
	"time"
)

// serveChild is a child's whole life: it ends when in ends, or its part fails.
func serveChild(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var c childConfig
	if !lines.Scan() {
		return errors.Join(lines.Err(), io.ErrUnexpectedEOF)
	}
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return err
	}
	var p part
	switch {
	case c.Hub != nil:
		p = &hubPart{config: *c.Hub}
	case c.Agent != nil:
		p = &agentPart{config: *c.Agent}
	case c.Fleet != nil:
		p = &fleet{plan: *c.Fleet}
	default:
		return errors.New("a child that is nothing")
	}
	var mu sync.Mutex
	encoder := json.NewEncoder(out)
	say := func(m message) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(m) // the parent is gone, and in ends
	}
	answer := func(v any, err error) {
		m := message{}
		if err == nil {
			m.Answer, err = json.Marshal(v)
		}
		if err != nil {
			m.Error = err.Error()
		}
		say(m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, err := p.start(ctx, say)
	answer(ready, err)
	prof := profile{prefix: c.Profile}
	for err == nil && lines.Scan() {
		var o order
		if err = json.Unmarshal(lines.Bytes(), &o); err != nil {
			break
		}
		if o.Do == "profile" {
			answer(nil, prof.next(o.Load))
			continue
		}
		answer(p.do(o))
	}
	return errors.Join(err, lines.Err(), prof.next(""), p.stop())
}

// next ends the profile that runs, and begins that of a load unless it is empty.
func (p *profile) next(load string) error {
	if p.prefix == "" {
		return nil
	}
	if p.file != nil {
		pprof.StopCPUProfile()
		if err := p.file.Close(); err != nil {
			return err
		}
		p.file = nil
	}
	if load == "" {
		return nil
	}
	f, err := os.Create(p.prefix + "-" + load + ".pprof")
	if err != nil {
		return err
	}
	p.file = f
	return pprof.StartCPUProfile(f)
}

// child is a child as its parent has it.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan message
	orders  sync.Mutex
	fenced  func(fenced) // may be nil
}

// startChild starts this program once more. It ends with ctx, with end, or with this
// process. ready takes what the part says of itself.
func startChild(ctx context.Context, c childConfig, ready any, onFenced func(fenced)) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childArg)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	k := &child{cmd: cmd, in: in, answers: make(chan message, 1), fenced: onFenced}
	go k.listen(out)
	if err = json.NewEncoder(in).Encode(c); err == nil {
		err = k.answer(ready)
	}
	if err != nil {
		return nil, errors.Join(err, k.end())
	}
	return k, nil
}

// listen ends when the child does.
func (k *child) listen(out io.Reader) {
	defer close(k.answers)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		switch err := json.Unmarshal(lines.Bytes(), &m); {
		case err != nil:
			m.Error = err.Error()
			k.answers <- m
		case m.Fenced != nil && k.fenced != nil:
			k.fenced(*m.Fenced)
		case m.Fenced == nil:
			k.answers <- m
		}
	}
}

func (k *child) answer(into any) error {
	m, ok := <-k.answers
	switch {
	case !ok:
		return errors.New("a part of the site has ended")
	case m.Error != "":
		return errors.New(m.Error)
	case into == nil:
		return nil
	}
	return json.Unmarshal(m.Answer, into)
}

// tell gives an order and waits for its answer.
func (k *child) tell(o order, into any) error {
	k.orders.Lock()
	defer k.orders.Unlock()
	if err := json.NewEncoder(k.in).Encode(o); err != nil {
		return fmt.Errorf("%s: %w", o.Do, err)
	}
	if err := k.answer(into); err != nil {
		return fmt.Errorf("%s: %w", o.Do, err)
	}
	return nil
}

// endWithin is how long a child may take to end by itself.
const endWithin = 20 * time.Second

func (k *child) end() error {
	_ = k.in.Close() // it ends by that
	late := time.AfterFunc(endWithin, func() { _ = k.cmd.Process.Kill() })
	defer late.Stop()
	for range k.answers { //nolint:revive // until it has ended
	}
	return k.cmd.Wait()
}
