package printer

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// On a screen a bar is one line; else there is a line for each tenth.
func TestBar(t *testing.T) {
	var text, screen bytes.Buffer
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := &Bar{out: &text, what: "uploading", Total: 1000 << 20, clock: func() time.Time { return now }, began: now}
	s := &Bar{out: &screen, screen: true, what: "uploading", Total: 1000 << 20, clock: func() time.Time { return now }, began: now}
	r := b.Reader(io.LimitReader(zero{}, 1000<<20), 0)
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	b.End()
	for range 10 {
		now = now.Add(10 * time.Second)
		s.Set(s.have + 100<<20)
	}
	s.End()
	if got := strings.Count(text.String(), "\n"); got != 10 || !strings.HasSuffix(text.String(), "uploading: 100 % of 1000 MiB\n") {
		t.Errorf("%d lines:\n%s", got, text.String())
	}
	if got := screen.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "\ruploading [###############               ]  50 % of 1000 MiB, 10.0 MiB/s, 50s left") {
		t.Errorf("%q", got)
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }
