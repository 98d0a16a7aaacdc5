package statetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/state/statetest"
)

// touch makes an empty file, which is durable enough for a SIGKILL.
func touch(dir, name string) {
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		panic(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return strings.Join(out, " ")
}

// Each passage kills exactly there: what came before is done, what comes after
// is not.
func TestPoints(t *testing.T) {
	for _, sub := range []string{"in a subtest", "in another (one)"} {
		t.Run(sub, func(t *testing.T) {
			var got []string
			statetest.Points(t, func(run statetest.Run) {
				for _, name := range []string{"a", "b"} {
					run.Crash.At("before")
					touch(run.Dir, name)
					run.Crash.At("after")
					run.Ack("line of " + name)
				}
			}, func(t *testing.T, k statetest.Kill) {
				got = append(got, fmt.Sprintf("%s#%d %q %q", k.Point, k.Passage, names(t, k.Dir), k.Acked))
			})
			want := []string{
				`before#1 "" []`,
				`after#1 "a" []`,
				`before#2 "a" ["line of a"]`,
				`after#2 "a b" ["line of a"]`,
				`end#1 "a b" ["line of a" "line of b"]`,
			}
			if !slices.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestKillAfter(t *testing.T) {
	dir, acked := statetest.KillAfter(t, 5, func(dir string, ack func(string)) {
		for i := 0; ; i++ {
			touch(dir, fmt.Sprintf("%06d", i))
			ack(fmt.Sprintf("%06d", i))
		}
	})
	files := strings.Fields(names(t, dir))
	// The last file may be one that was not acknowledged any more.
	if len(acked) < 5 || len(files) < len(acked) || len(files) > len(acked)+1 || !slices.Equal(acked, files[:len(acked)]) {
		t.Errorf("%d acknowledged, %d files", len(acked), len(files))
	}
}

func TestSmallDisk(t *testing.T) {
	statetest.SmallDisk(t, 1, func(t *testing.T, dir string) {
		statetest.Fill(t, filepath.Join(dir, "ballast"), 0)
		if err := os.WriteFile(filepath.Join(dir, "more"), make([]byte, 4096), 0o600); err == nil {
			t.Error("a full disk takes more")
		}
	})
}
