package guard

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// Of one message calmBurst lines are written in calmEvery; the first one after that says how
	// many were left out.
	calmBurst = 5
	calmEvery = time.Minute
	// maxCalmed bounds the messages that are remembered. They are constants of the program.
	maxCalmed = 256
)

// Calm returns a logger that writes a few lines of each message in a minute, whatever their
// fields are: whoever is on a segment can cause lines, as many as packets. Debug is let
// through; nobody has that on for long. The number of lines left out is in the field left_out.
func Calm(log *slog.Logger) *slog.Logger {
	if _, is := log.Handler().(calm); is {
		return log
	}
	return slog.New(calm{log.Handler(), &calmed{by: make(map[string]*spell)}, false})
}

// CalmHandler is Calm for a library whose messages differ each time: all of them are one.
func CalmHandler(h slog.Handler) slog.Handler {
	return calm{h, &calmed{by: make(map[string]*spell)}, true}
}

type calm struct {
	slog.Handler
	state *calmed
	one   bool // all messages count as one
}

type calmed struct {
	mu sync.Mutex
	by map[string]*spell
}

// spell is a time of calmEvery, and what was said in it.
type spell struct {
	began         time.Time
	said, leftOut int
}

// Handle implements slog.Handler.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	if r.Level > slog.LevelDebug {
		message := r.Message
		if c.one {
			message = ""
		}
		leftOut, ok := c.state.allow(message, r.Time)
		if !ok {
			return nil
		}
		if leftOut > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("left_out", leftOut))
		}
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calm{c.Handler.WithAttrs(attrs), c.state, c.one}
}

// WithGroup implements slog.Handler.
func (c calm) WithGroup(name string) slog.Handler {
	return calm{c.Handler.WithGroup(name), c.state, c.one}
}

func (c *calmed) allow(message string, at time.Time) (leftOut int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.by[message]
	if s == nil && len(c.by) >= maxCalmed {
		message = "" // those that came too late share one
		s = c.by[message]
	}
	if s == nil {
		s = &spell{began: at}
		c.by[message] = s
	}
	if d := at.Sub(s.began); d >= calmEvery || d < 0 {
		leftOut = s.leftOut
		*s = spell{began: at}
	}
	if s.said++; s.said > calmBurst {
		s.leftOut++
		return 0, false
	}
	return leftOut, true
}
