package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A hub whose audit log lost its newest part while it was stopped starts, says so, and has it on
// record: in its log, and in the audit log, whose numbers go on after what is gone. At the start
// after that the log goes on.
func TestAuditLogLosesItsEnd(t *testing.T) {
	t.Parallel()
	c := ownHub(t)
	started(t, c)
	started(t, c)
	files, err := filepath.Glob(c.path("audit/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	was := read(t, files[0])
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil)), Ready: cancel}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "audit log is broken") {
		t.Errorf("the log does not say it:\n%s", log.String())
	}
	files, err = filepath.Glob(c.path("audit/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	first, _, _ := strings.Cut(read(t, files[0]), "\n")
	if !strings.Contains(first, "audit-break") || !strings.Contains(first, "not there, at the tail") {
		t.Errorf("it begins with %s", first)
	}
	if lines := strings.Count(was, "\n"); !strings.Contains(filepath.Base(files[0]), "000"+string(rune('0'+lines+1))+".jsonl") {
		t.Errorf("%d entries are gone, and %s begins", lines, files[0])
	}
	started(t, c)
}
