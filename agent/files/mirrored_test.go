package files

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func mirroredOf(t *testing.T, urls ...string) Mirrored {
	t.Helper()
	cfg := mirror.Config{Dir: t.TempDir()}
	for _, u := range urls {
		cfg.Bases = append(cfg.Bases, mirror.Base{URL: u})
	}
	m, err := mirror.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return NewMirrored(m, time.Now)
}

// However many repositories an agent's file names, and however long their URLs are, what it says
// of them fits into one message; what is left out is counted.
func TestMirrorStatusFits(t *testing.T) {
	var urls []string
	for i := range 100 {
		urls = append(urls, fmt.Sprintf("https://deb.example/%03d/%s", i, strings.Repeat("&", 1000))) // JSON writes 6 bytes for each
	}
	s, err := mirroredOf(t, urls...).MirrorStatus()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Repositories) == 0 || s.Left == 0 || len(s.Repositories)+s.Left != len(urls) {
		t.Errorf("%d repositories and %d left", len(s.Repositories), s.Left)
	}
	raw, err := json.Marshal(s)
	if err != nil || len(raw) > resource.MaxMirrorStatus {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

// What an operator sees of eight repositories is small beside what agents report anyway, and is
// sent only when somebody asks. The decision rests on its size.
func TestMirrorStatusSize(t *testing.T) {
	now := time.Date(2026, 11, 26, 8, 0, 0, 123456789, time.UTC)
	s := resource.MirrorStatus{At: now, Used: 1 << 34, Pinned: 1 << 30, Quota: 20 << 30}
	for i := range 8 {
		s.Repositories = append(s.Repositories, repository(mirror.State{
			Base: fmt.Sprintf("https://mirror%d.example/debian/dists/", i), Asked: true, Since: now, Reached: now, Broke: now.Add(-time.Hour), Rests: now,
			Code: protocol.CodeUnavailable, Why: "ask the mirror's origin: https://mirror.example/debian/dists/stable/Release answers 502",
			Held:  mirror.Held{Files: 12000 + i, Bytes: 1 << 33, Fresh: 11000, Validated: now, Oldest: now.Add(-240 * time.Hour)},
			Opens: mirror.Opens{Served: 123456, Stale: 12, Fetched: 12345, Absent: 300, Failed: 7},
		}))
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(raw))
	if len(raw) > 8<<10 {
		t.Errorf("%d bytes", len(raw))
	}
}

// An agent that reads from no repository says so.
func TestNoMirror(t *testing.T) {
	x := NewMirrored(nil, time.Now)
	if s, err := x.MirrorStatus(); err != nil || len(s.Repositories) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := x.FlushMirror(t.Context(), "", true); protocol.CodeOf(err) != protocol.CodeUnsupported || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if _, err := mirroredOf(t, "http://127.0.0.1:1/x").FlushMirror(t.Context(), "/"+strings.Repeat("x", resource.MaxMirrorWhat), true); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}
