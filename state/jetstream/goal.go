package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// goal is where a walk may end that never comes to the newest message, since others write without a pause: with the
// sequence that was the newest when the walk had seen all that was counted, and with a message of each subject that
// there was then. A subject of which all that is kept came after that sequence is thus not taken for one that is gone.
// A nil goal is none.
type goal struct {
	seq     uint64
	missing map[string]bool // subjects
}

// patience is how often a walk looks whether it has the newest message before it takes a goal: to ask for the subjects
// of a large stream takes the server a moment.
const patience = 20

// goal asks for the goal of a walk that has seen some subjects.
func (st *stream) goal(ctx context.Context, op string, seen func(subject string) bool) (*goal, error) {
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return st.s.Info(ctx, jetstream.WithSubjectFilter(st.prefix+">"))
	})
	if err != nil {
		return nil, readError(op, st.cfg.Name, err)
	}
	g := &goal{info.State.LastSeq, map[string]bool{}}
	for subject := range info.State.Subjects {
		if !st.ours(subject) && !seen(subject) {
			g.missing[subject] = true
		}
	}
	return g, nil
}

// saw takes a message of a subject.
func (g *goal) saw(subject string) {
	if g != nil {
		delete(g.missing, subject)
	}
}

// reached reports whether a walk may end with the message of a sequence, if nothing else is counted.
func (g *goal) reached(seq uint64) bool { return g != nil && seq >= g.seq && len(g.missing) == 0 }
