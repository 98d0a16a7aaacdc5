package support

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol/redact"
)

// The bounds of what is kept of the log.
const (
	maxLines    = 4000
	maxLine     = 4 << 10 // bytes; what is longer is cut
	maxLogBytes = 2 << 20
)

// Lines are the last lines of a log, in memory: at most 4,000 of them and 2 MiB. It is
// safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	kept  []string // a ring that begins at first
	first int
	bytes int
}

// Write implements io.Writer with one line.
func (l *Lines) Write(p []byte) (int, error) {
	line := strings.TrimSuffix(string(p), "\n")
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept, l.bytes = append(l.kept, line), l.bytes+len(line)+1
	for len(l.kept)-l.first > maxLines || l.bytes > maxLogBytes {
		l.bytes -= len(l.kept[l.first]) + 1
		l.kept[l.first] = ""
		l.first++
	}
	if l.first > maxLines {
		l.kept, l.first = slices.Clone(l.kept[l.first:]), 0
	}
	return len(p), nil
}

// Text is the lines without secrets, the oldest first.
func (l *Lines) Text() string {
	l.mu.Lock()
	kept := slices.Clone(l.kept[l.first:])
	l.mu.Unlock()
	var b strings.Builder
	forms := redact.New()
	for _, line := range kept {
		b.WriteString(forms.Text(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// Beside is a handler that logs as another does, and has l keep the same.
func (l *Lines) Beside(log slog.Handler) slog.Handler {
	// Which levels are logged is the other's to say.
	return tee{log, slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.Level(-1 << 10)})}
}

// tee gives each record to both handlers.
type tee struct{ log, kept slog.Handler }

// Enabled implements slog.Handler.
func (t tee) Enabled(ctx context.Context, level slog.Level) bool { return t.log.Enabled(ctx, level) }

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	if err := t.kept.Handle(ctx, r.Clone()); err != nil {
		return err
	}
	return t.log.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tee{t.log.WithAttrs(attrs), t.kept.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	return tee{t.log.WithGroup(name), t.kept.WithGroup(name)}
}
