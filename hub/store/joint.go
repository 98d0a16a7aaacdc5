package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
)

const (
	// jointPart bounds the ops of a commit that is joined with others: a large one keeps nobody waiting.
	jointPart = 32
	// jointOps bounds what is joined: the server takes it in at once, and nothing else meanwhile.
	jointOps = 128
	// jointRuns is how many joined commits of each line are under way at once: one that hangs keeps
	// nobody else waiting.
	jointRuns = 2
)

// joint makes one commit of all that callers commit while others are under way, since a
// commit costs what it costs for few keys and for many: the server syncs a folder for each.
// Each caller's part is written whole or not at all as if it was alone: one that conflicts is taken out.
// Background work stands in a line of its own: what a hold waits for is not joined with it, and waits
// for none of its commits to come back.
type joint struct {
	kv state.KV

	mu    sync.Mutex
	lines map[bool]*jointLine // background work's is true
	// checked counts the joined commits under way that check a key: in a cluster the server refuses another
	// one that does, as it refuses one that writes it.
	checked map[string]int
}

// jointLine is who waits, and how many commits are under way.
type jointLine struct {
	runs    int
	waiting []*part
}

// part is the commit of one caller.
type part struct {
	gone      <-chan struct{} // closed once the caller does not wait any more
	ops       []state.Op
	done      chan struct{}
	revisions []uint64
	err       error
}

func (p *part) end(revisions []uint64, err error) {
	p.revisions, p.err = revisions, err
	close(p.done)
}

// left reports whether the caller does not wait any more.
func (p *part) left() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// commit is [state.KV].Commit.
func (j *joint) commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	if len(ops) == 1 || len(ops) > jointPart {
		return j.kv.Commit(ctx, ops)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &part{ops: ops, gone: ctx.Done(), done: make(chan struct{})}
	j.mu.Lock()
	l := j.line(isPatient(ctx))
	l.waiting = append(l.waiting, p)
	j.start(ctx, l)
	j.mu.Unlock()
	select {
	case <-p.done:
		return p.revisions, p.err
	case <-ctx.Done():
		return nil, protocol.Errorf(protocol.CodeTimeout, "commit", "the store did not answer in time: %w", ctx.Err()).
			WithHint("whether it was written is unknown; read it back before trying again")
	}
}

// line is that of background work, or of all else. It needs j.mu.
func (j *joint) line(background bool) *jointLine {
	if j.lines == nil {
		j.lines = map[bool]*jointLine{false: {}, true: {}}
	}
	return j.lines[background]
}

// start has somebody commit what waits in a line, unless enough do. It needs j.mu.
func (j *joint) start(ctx context.Context, l *jointLine) {
	if len(l.waiting) > 0 && l.runs < jointRuns {
		l.runs++
		go j.run(context.WithoutCancel(ctx), l) // each commit has the deadline of the store
	}
}

// run commits until nobody waits in a line who can be taken.
func (j *joint) run(ctx context.Context, l *jointLine) {
	for {
		j.mu.Lock()
		parts := j.take(l)
		j.checks(parts, 1)
		if len(parts) == 0 {
			l.runs--
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()
		wanted, stop := whileWanted(ctx, parts)
		j.write(wanted, slices.Clone(parts))
		stop()
		j.mu.Lock()
		j.checks(parts, -1)
		for _, other := range j.lines { // where somebody may have waited for a key
			j.start(ctx, other)
		}
		j.mu.Unlock()
	}
}

// whileWanted is a context that ends when no caller of the parts waits any more. What a hub that is cut off goes on to
// try would be written when the network is back, after its caller has asked another hub, and has undone it there.
func whileWanted(ctx context.Context, parts []*part) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() { // ends with the parts, which are done when the commit is
		for _, p := range parts {
			select {
			case <-p.done:
			case <-p.gone:
			}
		}
		stop()
	}()
	return ctx, stop
}

// checks counts the checks of parts n times more. It needs j.mu.
func (j *joint) checks(parts []*part, n int) {
	if j.checked == nil {
		j.checked = map[string]int{}
	}
	for _, p := range parts {
		for _, o := range p.ops {
			if o.Kind != state.OpCheck {
				continue
			}
			if j.checked[o.Key] += n; j.checked[o.Key] == 0 {
				delete(j.checked, o.Key)
			}
		}
	}
}

// take is what can be joined of those who wait: no key is in two of them but to be checked at
// one revision, and none is checked by what is under way. It needs j.mu.
func (j *joint) take(l *jointLine) (parts []*part) {
	keys := map[string]state.Op{}
	var left []*part
	for _, p := range l.waiting {
		if p.left() {
			p.end(nil, context.Canceled) // nobody reads it
			continue
		}
		apart := len(keys)+len(p.ops) > jointOps && len(parts) > 0
		for _, o := range p.ops {
			other, twice := keys[o.Key]
			apart = apart || o.Kind == state.OpCheck && j.checked[o.Key] > 0
			apart = apart || twice && (o.Kind != state.OpCheck || other.Kind != state.OpCheck || o.Revision != other.Revision)
		}
		if apart {
			left = append(left, p)
			continue
		}
		for _, o := range p.ops {
			keys[o.Key] = o
		}
		parts = append(parts, p)
	}
	l.waiting = left
	return parts
}

// write commits parts at once. Those that conflict are told so, and the others are committed
// without them.
func (j *joint) write(ctx context.Context, parts []*part) {
	for len(parts) > 0 {
		var ops []state.Op
		at := map[string]int{} // key -> its op
		for _, p := range parts {
			for _, o := range p.ops {
				if _, there := at[o.Key]; !there {
					at[o.Key] = len(ops)
					ops = append(ops, o)
				}
			}
		}
		revisions, err := j.kv.Commit(ctx, ops)
		stale := state.Conflicting(err)
		switch {
		case err == nil:
			for _, p := range parts {
				own := make([]uint64, len(p.ops))
				for i, o := range p.ops {
					own[i] = revisions[at[o.Key]]
				}
				p.end(own, nil)
			}
			return
		case len(parts) == 1, !errors.Is(err, state.ErrConflict) && protocol.CodeOf(err) != protocol.CodeInvalid:
			for _, p := range parts {
				p.end(nil, err)
			}
			return
		case len(stale) == 0: // it is not known whose fault it is
			for _, p := range parts {
				p.end(j.kv.Commit(ctx, p.ops))
			}
			return
		}
		parts = slices.DeleteFunc(parts, func(p *part) bool {
			var own []string
			for _, o := range p.ops {
				if slices.Contains(stale, o.Key) {
					own = append(own, o.Key)
				}
			}
			if len(own) > 0 {
				p.end(nil, protocol.Errorf(protocol.CodeConflict, "commit", "%w", &state.ConflictError{Keys: own}))
			}
			return len(own) > 0
		})
	}
}
