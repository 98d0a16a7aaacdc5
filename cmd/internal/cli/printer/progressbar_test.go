package printer

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// On a screen a bar is one line; else there is a line for each tenth.
func TestBar(t *testing.T) {
	var text, screen bytes.Buffer
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := &Bar{out: &text, what: "uploading", Total: 1000 << 20, clock: func() time.Time { return now }, began: now}
	s := &Bar{out: &screen, screen: true, what: "uploading", Total: 1000 << 20, clock: func() time.Time { return now }, began: now, columns: func() int { return 100 }}
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

// A line that is as long as the screen would wrap, and be written again below itself.
func TestBarIsNoLongerThanTheScreen(t *testing.T) {
	var screen bytes.Buffer
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := &Bar{out: &screen, screen: true, what: "uploading " + strings.Repeat("x", 90), Total: 1000 << 20, clock: func() time.Time { return now }, began: now, columns: func() int { return 80 }}
	for range 10 {
		now = now.Add(10 * time.Second)
		b.Set(b.have + 100<<20)
	}
	b.End()
	for line := range strings.SplitSeq(screen.String(), "\r") {
		if text, _, _ := strings.Cut(line, "\x1b"); utf8.RuneCountInString(text) > 79 {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(text), text)
		}
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }
