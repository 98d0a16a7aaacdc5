//go:build storm

package clock

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// The wall reading moves, the monotonic one does not.
func TestStep(t *testing.T) {
	for _, d := range []time.Duration{0, time.Second, -time.Second, time.Hour, -48 * time.Hour, 20 * 365 * 24 * time.Hour} {
		before := time.Now()
		after := step(before, d)
		if got := after.Round(0).Sub(before.Round(0)); got != d {
			t.Errorf("wall moved by %s, want %s", got, d)
		}
		if got := after.Sub(before); got != 0 {
			t.Errorf("after a step of %s the monotonic reading moved by %s", d, got)
		}
	}
	if got := step(time.Unix(100, 7), time.Minute); !got.Equal(time.Unix(160, 7)) {
		t.Errorf("without a monotonic reading %s", got)
	}
}

// A step of the file is seen soon.
func TestNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offset")
	t.Setenv(fileVariable, path)
	for _, d := range []time.Duration{time.Hour, -time.Hour, 0} {
		if err := os.WriteFile(path, []byte(time.Duration.String(d)), 0o600); err != nil {
			t.Fatal(err)
		}
		if offset() != 0 {
			t.Error("an offset that is no number counts")
		}
		if err := os.WriteFile(path, []byte(strconv.FormatInt(int64(d), 10)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Now().Round(0).Sub(time.Now().Round(0)); (got - d).Abs() > time.Second {
			t.Errorf("the clock is off by %s, want %s", got, d)
		}
	}
}
