package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// The test's own program is the parts of the site too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if serveChild(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A small run of everything at once: each hold comes to its receipt, and every figure is
// there. How long it takes is no matter of a test.
func TestMeasure(t *testing.T) {
	p := plan{
		Servers: 3, Holds: 2, Rate: 10, Settle: 100 * time.Millisecond, OffMin: 50 * time.Millisecond, OffMax: 150 * time.Millisecond,
		Boots: 2, BootRate: 1 << 20, Small: 6, Pull: 4 << 20, Images: 2, Others: 1, Only: "all",
	}
	r, err := measure(t.Context(), t.Output(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[0].Load != "none" || r.Rows[1].Load != "all" {
		t.Fatalf("the rows are %+v", r.Rows)
	}
	for _, w := range r.Rows {
		if w.Holds != p.Holds || w.Failed != 0 {
			t.Errorf("%s: %d holds, %d failed: %s", w.Load, w.Holds, w.Failed, w.Said)
		}
		for _, f := range []figure{w.Accepted, w.Forced, w.Receipt, w.Visible, w.Whole} {
			if f.P50 <= 0 || f.P50 > f.P95 || f.P95 > f.P99 || f.P99 > f.Max {
				t.Errorf("%s: %+v", w.Load, w)
			}
		}
		if w.Whole.Max < float64((p.Settle + p.OffMin).Milliseconds()) {
			t.Errorf("%s: fenced in %v, sooner than BMC and settle window allow", w.Load, w.Whole)
		}
	}
	var text, raw bytes.Buffer
	if err := r.print(&text, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all ", "2 of 2 booted", "pulled", "one hangs", "documented, not measured: metal3", "target: p99"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	var back result
	if err := r.print(&raw, true); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Rows) != len(r.Rows) || len(back.Peers) == 0 {
		t.Errorf("%v: %s", err, raw.String())
	}
	t.Log("\n" + text.String())
}

func TestFigure(t *testing.T) {
	var all []sample
	for i := range 100 {
		all = append(all, sample{accept: time.Duration(i+1) * time.Millisecond})
	}
	if f := figureOf(all, sample.toAccept); f != (figure{51, 96, 100, 100}) {
		t.Errorf("%+v", f)
	}
	if f := figureOf(nil, sample.toAccept); f != (figure{}) {
		t.Errorf("%+v", f)
	}
}
