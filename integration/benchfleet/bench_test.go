package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test's own program is the hub too, and something that shows servers as rackctl does.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 4 && os.Args[1] == hubArg:
		exit(runHub(os.Args[2], os.Args[3]))
	case len(os.Args) == 3 && os.Args[1] == "get" && os.Args[2] == "servers":
		fmt.Print("NAME\n" + strings.Repeat("server\n", small.Racks[0]*small.Servers))
		return
	}
	os.Exit(m.Run())
}

var small = plan{
	Racks: []int{3}, Servers: 3, Holds: 3, Over: 500 * time.Millisecond, Rest: 100 * time.Millisecond, Idle: time.Second, Dark: 200 * time.Millisecond,
	Within: time.Minute, Changes: 2, Scrapes: 2, Pause: time.Second, Profiled: time.Second,
}

// A small run comes to every state, and every figure is there. How large they are is no matter of a test.
func TestMeasure(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := small
	p.Rackctl, p.Dir, p.Profile = self, t.TempDir(), t.TempDir()
	r, err := measure(t.Context(), p, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sizes) != 1 || r.Machine.CPUs == 0 || r.Sizes[0].LoadAfter < 0 {
		t.Fatalf("%+v", r)
	}
	// Nothing is dropped, a hub of nine servers at rest takes nothing that is counted, and a list of them is over
	// before anybody looks how large rackctl is.
	none := []string{"power returns: messages dropped by queues", "CPU at rest", "rackctl get servers, RSS"}
	for what := range targets() {
		v, ok := r.Sizes[0].value(what)
		if !ok || v < 0 || v == 0 && !slices.Contains(none, what) {
			t.Errorf("%s: %v", what, v)
		}
	}
	if v, _ := r.Sizes[0].value("live heap at rest, or after lists if that is less"); v <= 0 || v > 1000 {
		t.Errorf("a live heap of %v MiB", v)
	}
	profiles, err := filepath.Glob(filepath.Join(p.Profile, "*.pprof"))
	if err != nil || len(profiles) != 14 {
		t.Errorf("%d profiles: %v, %v", len(profiles), profiles, err)
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	var text, raw bytes.Buffer
	r.print(&text)
	for what := range targets() {
		if !strings.Contains(text.String(), what) {
			t.Errorf("no %q in\n%s", what, &text)
		}
	}
	var back result
	if err := r.write("-", &raw); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Sizes[0].Figures) != len(r.Sizes[0].Figures) {
		t.Errorf("%v: %s", err, &raw)
	}
}

// Where a state does not come in time it is said which, and what was measured before is there.
func TestMeasureGivesUp(t *testing.T) {
	p := small
	p.Dir, p.Rackctl, p.Within = t.TempDir(), filepath.Join(t.TempDir(), "none"), time.Nanosecond
	r, err := measure(t.Context(), p, t.Output())
	if err == nil || !strings.Contains(err.Error(), "3 racks: join:") || !strings.Contains(err.Error(), "not in-step") {
		t.Errorf("%v", err)
	}
	if len(r.Sizes) != 1 || len(r.Sizes[0].Figures) == 0 {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestPage(t *testing.T) {
	page := []byte("# HELP a b\na{x=\"1 2\"} 3\na{x=\"}\"} 4\nb 1e3\n\n")
	m := metrics(page)
	if m["a"] != 7 || m["b"] != 1000 || series(page) != 3 {
		t.Errorf("%v, %d series", m, series(page))
	}
	if live := liveHeap(map[string]float64{"go_gc_gogc_percent": 100, "go_memstats_next_gc_bytes": 44 << 20, "go_memstats_stack_inuse_bytes": 4 << 20}); live != 20 {
		t.Errorf("%v MiB", live)
	}
}

func TestDecade(t *testing.T) {
	of := func(racks int, v float64) size { return size{Racks: racks, Figures: []figure{{"a", v, "s"}}} }
	r := result{Sizes: []size{of(100, 2), of(300, 5), of(1000, 20)}}
	if g, ok := r.decade("a"); !ok || math.Abs(g-10) > 1e-9 {
		t.Errorf("%v, %v", g, ok)
	}
	if _, ok := (result{Sizes: []size{of(100, 0), of(300, 5)}}).decade("a"); ok {
		t.Error("one value grows")
	}
}

func TestSizes(t *testing.T) {
	var p plan
	if err := p.sizes("100, 300"); err != nil || len(p.Racks) != 2 || p.Racks[1] != 300 {
		t.Errorf("%v, %v", p.Racks, err)
	}
	for _, text := range []string{"", "0", "x", "5001"} {
		if err := new(plan).sizes(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
