package server

import (
	"context"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// callers are who waits for a read that begins after they have asked. All methods are safe for
// concurrent use.
type callers struct {
	mu      sync.Mutex
	waiting []chan answer
}

// answer is a read, or why there is none.
type answer struct {
	read resource.ServerRead
	err  error
}

// add adds a caller. Its answer comes at most once.
func (c *callers) add() chan answer {
	to := make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, to)
	return to
}

// drop takes back a caller that waits no longer.
func (c *callers) drop(to chan answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(other chan answer) bool { return other == to })
}

// begin returns who waits. The read that they wait for begins afterwards.
func (c *callers) begin() *asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &asked{c.waiting}
	c.waiting = nil
	return out
}

// asked are the callers of one read.
type asked struct{ waiting []chan answer }

// tell answers them, if nobody has.
func (a *asked) tell(read resource.ServerRead, err error) {
	for _, to := range a.waiting {
		to <- answer{read, err}
	}
	a.waiting = nil
}

// readOf is what callers are told of a read that is recorded.
func readOf(server string, r reading, rec decide.Record) (resource.ServerRead, error) {
	if r.obs == nil {
		return resource.ServerRead{}, protocol.Errorf(protocol.CodeDenied, "read "+server, "%s", r.cond.Message)
	}
	out := resource.ServerRead{Server: server, Power: r.obs.Power, StartedAt: r.obs.StartedAt, ReadAt: r.obs.ReadAt, Error: r.obs.Error}
	for id, receipt := range rec.Holds.Receipts {
		out.Proved = append(out.Proved, resource.ProvedOff{Hold: id, StoppedSince: receipt.StoppedSince})
	}
	slices.SortFunc(out.Proved, func(a, b resource.ProvedOff) int { return strings.Compare(a.Hold, b.Hold) })
	return out, nil
}

// Read reads a server now: by a read that begins after the call, and that is recorded when it
// returns. It waits for the BMC until ctx ends. Errors: not_found (the agent has no such server),
// denied (the BMC refuses the account), unavailable (the read could not be recorded, or the server
// is not served any more), timeout.
func (l *Loops) Read(ctx context.Context, name string) (resource.ServerRead, error) {
	op := "read " + name
	s, ok := l.of(name)
	if !ok {
		return resource.ServerRead{}, protocol.Errorf(protocol.CodeNotFound, op, "this agent has no server of that name")
	}
	to := s.callers.add()
	s.signals.poke()
	select {
	case a := <-to:
		return a.read, a.err
	case <-ctx.Done():
		s.callers.drop(to)
		return resource.ServerRead{}, protocol.Errorf(protocol.CodeTimeout, op, "its BMC has not answered yet").
			WithHint("ask again; the agent goes on reading it")
	}
}
