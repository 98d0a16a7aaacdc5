package serve

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/spf13/cobra"

	"rackboot/protocol"
)

// Log is how a daemon logs. Its level and format may change while it runs. It is safe for concurrent use.
type Log struct {
	*slog.Logger
	w             io.Writer
	format, level string // of the command line
	base          *atomic.Pointer[slog.Handler]
}

// Set has the log written so from now on, also by loggers that were made of it before. What is empty is
// as the command line says. The code is invalid for another level or format; then nothing changes.
func (l *Log) Set(level, format string) error {
	h, err := handler(l.w, cmp.Or(format, l.format), cmp.Or(level, l.level))
	if err != nil {
		return err
	}
	l.base.Store(&h)
	return nil
}

// newLog writes text lines, or JSON for log collectors.
func newLog(w io.Writer, format, level string) (*Log, error) {
	l := &Log{w: w, format: format, level: level, base: &atomic.Pointer[slog.Handler]{}}
	if err := l.Set("", ""); err != nil {
		return nil, err
	}
	l.Logger = slog.New(following{base: l.base, with: func(h slog.Handler) slog.Handler { return h }, last: &atomic.Pointer[made]{}})
	return l, nil
}

func handler(w io.Writer, format, level string) (slog.Handler, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read --log-level", "%q is not debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.NewTextHandler(w, o), nil
	case "json":
		return slog.NewJSONHandler(w, o), nil
	}
	return nil, protocol.Errorf(protocol.CodeInvalid, "read --log-format", "%q is not text or json", format)
}

// following is a handler that does as the base of now does, with attributes and groups of its own.
type following struct {
	base *atomic.Pointer[slog.Handler]
	with func(slog.Handler) slog.Handler
	last *atomic.Pointer[made]
}

// made is what came of a base with the attributes and groups.
type made struct {
	base    *slog.Handler
	handler slog.Handler
}

func (f following) now() slog.Handler {
	base := f.base.Load()
	m := f.last.Load()
	if m == nil || m.base != base {
		m = &made{base, f.with(*base)}
		f.last.Store(m)
	}
	return m.handler
}

// Enabled implements slog.Handler.
func (f following) Enabled(ctx context.Context, l slog.Level) bool {
	return (*f.base.Load()).Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (f following) Handle(ctx context.Context, r slog.Record) error { return f.now().Handle(ctx, r) }

// WithAttrs implements slog.Handler.
func (f following) WithAttrs(attrs []slog.Attr) slog.Handler {
	return following{f.base, func(h slog.Handler) slog.Handler { return f.with(h).WithAttrs(attrs) }, &atomic.Pointer[made]{}}
}

// WithGroup implements slog.Handler.
func (f following) WithGroup(name string) slog.Handler {
	return following{f.base, func(h slog.Handler) slog.Handler { return f.with(h).WithGroup(name) }, &atomic.Pointer[made]{}}
}

// LogFlags adds the logging flags to a command and returns how to get the log.
func LogFlags(c *cobra.Command, w io.Writer) func() (*Log, error) {
	format := c.Flags().String("log-format", "text", "text or json")
	level := c.Flags().String("log-level", "info", "debug, info, warn or error")
	return func() (*Log, error) { return newLog(w, *format, *level) }
}
