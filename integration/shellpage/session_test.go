package shellpage

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func session(t *testing.T) (*Session, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Start(t.TempDir(), dir, []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

const within = 20 * time.Second

// What a block leaves is there for the next; what it prints is its own; what it started
// ends with the session.
func TestSession(t *testing.T) {
	s, dir := session(t)
	for _, c := range []struct{ text, want string }{
		{"X=1; mkdir d; cd d\necho one", "one\n"},
		{"echo $X; cat", "1\n"}, // cat reads nothing
		{"sleep 1000 & echo $! >pid", ""},
		{"pwd", filepath.Join(dir, "d") + "\n"},
	} {
		got, took, err := s.Run(Block{Text: c.text}, within)
		if err != nil || got != c.want || took <= 0 {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "d", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("what a block started is left")
	}
}

// A command that fails, a name that nobody gave, and a block that does not end are errors.
func TestSessionFails(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		within time.Duration
		want   string
	}{
		"a command":       {"echo before\nfalse\necho after", within, "a command failed"},
		"in a pipe's end": {"true | false", within, "a command failed"},
		"a variable":      {"echo $NOBODY", within, "a command failed"},
		"no end":          {"sleep 1000", 50 * time.Millisecond, "not done within"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := session(t)
			got, _, err := s.Run(Block{Text: c.text}, c.within)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(got, "after") {
				t.Errorf("%q, %v", got, err)
			}
			if c.text == "sleep 1000" {
				_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
