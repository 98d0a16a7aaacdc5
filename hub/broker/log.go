package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
)

// logger takes the server's own lines. Its texts are not ours, so they are a
// field; its notices are debug lines here.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal string // why it did not start
}

const line = "broker server"

func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug(line, "text", fmt.Sprintf(format, v...))
}

func (l *logger) Warnf(format string, v ...any) { l.log.Warn(line, "text", fmt.Sprintf(format, v...)) }

func (l *logger) Errorf(format string, v ...any) {
	if slices.ContainsFunc(v, outOfFiles) { // once a second while it is so; who watches the limit says it once a minute
		l.log.Debug(line, "text", fmt.Sprintf(format, v...))
		return
	}
	l.log.Error(line, "text", fmt.Sprintf(format, v...))
}

func outOfFiles(v any) bool {
	err, ok := v.(error)
	return ok && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE))
}

func (l *logger) Debugf(string, ...any) {}
func (l *logger) Tracef(string, ...any) {}

// Fatalf is called when a listener or the store cannot be opened. It must not
// end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatal = fmt.Sprintf(format, v...)
}

func (l *logger) cause() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}
