package benchreport

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// TestReport: a ratio is to our value of the same thing in the same unit.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := New(&out, true)
	r.Add(
		Figure{What: "a", Subject: Ours, Value: 6, Unit: "MB/s"}, Figure{What: "a", Subject: Ours, Value: 9, Unit: "files/s"},
		Figure{What: "a", Subject: "x", Value: 4, Unit: "MB/s"}, Figure{What: "b", Subject: "x", Value: 4, Unit: "MB/s"},
		Figure{What: "a", Subject: "y", Unit: "MB/s", Missing: "y is not installed"},
	)
	if out.Len() != 0 {
		t.Errorf("before the end there is %q", out.String())
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	var all Document
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if time.Since(all.Begun) > time.Hour || all.Kernel == "" || all.Go == "" || all.Cores < 1 || len(all.Figures) != 5 {
		t.Errorf("%+v", all)
	}
	got := all.Figures
	for i, want := range []float64{0, 0, 1.5, 0, 0} {
		if got[i].Ours != want {
			t.Errorf("%+v, want a ratio of %v", got[i], want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{5, 1, 3}, 3}, {[]float64{9, 1, 5, 7}, 5}} {
		if got := Median(tt.values); got != tt.want {
			t.Errorf("median of %v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestRotated(t *testing.T) {
	if got := Rotated([]string{"a", "b", "c"}, 4); !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("rotated %v", got)
	}
}

func TestCPUOf(t *testing.T) {
	// The name of a process may hold spaces and parentheses: proc(5).
	for stat, want := range map[string]time.Duration{
		"7 (a ) 1 2) S 1 7 7 0 -1 4194304 100 0 0 0 25 17 0 0 20 0 1 0 5":       420 * time.Millisecond,
		"123 (a) b) S 1 123 123 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 8 0 1 1 1": 3 * time.Second,
	} {
		if got, err := cpuOf(stat); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", stat, got, err, want)
		}
	}
	if _, err := cpuOf("123 (a) S 1"); err == nil {
		t.Error("a state without times has some")
	}
}

func TestUsage(t *testing.T) {
	var u Usage
	if err := u.Add(os.Getpid()); err != nil || u.RSS == 0 || u.Now == 0 || u.Now > u.RSS || u.Own == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	was := u
	if err := u.Add(1 << 30); err != nil || u != was { // above the most that Linux gives
		t.Errorf("%+v after %+v, %v", u, was, err)
	}
}
