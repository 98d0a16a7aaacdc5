package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	agent "rackboot/agent/daemon"
	hub "rackboot/hub/daemon"
)

var (
	commentedSetting = regexp.MustCompile(`^( *)# ([a-z][A-Za-z0-9]*:( .*)?)$`)
	belowSetting     = regexp.MustCompile(`^( *)# (( *)- .*|  .*)$`)
)

// TestCommentedSettings: what the examples of configs/ show in a comment can be taken out of
// the comment where it stands, one setting at a time.
func TestCommentedSettings(t *testing.T) {
	for p, load := range map[string]func(string) error{
		"configs/agent.yaml": func(p string) error { _, err := agent.LoadConfig(p); return err },
		"configs/hub.yaml":   func(p string) error { _, err := hub.LoadConfig(p); return err },
	} {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		lines, tried := strings.Split(string(raw), "\n"), 0
		for i, line := range lines {
			m := commentedSetting.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			tried++
			out := append([]string{}, lines...)
			out[i] = m[1] + m[2]
			if m[2] == "broker:" { // it stands in the place of another setting
				out = slices.DeleteFunc(out, func(l string) bool { return strings.HasPrefix(l, "mqtt: ") })
				out = slices.Insert(out, 0, "") // the others stay where they are
			}
			for j := i + 1; j < len(lines); j++ {
				b := belowSetting.FindStringSubmatch(lines[j])
				if b == nil || b[1] != m[1] {
					break
				}
				out[j] = b[1] + b[2]
			}
			file := filepath.Join(t.TempDir(), filepath.Base(p))
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := load(file); err != nil {
				t.Errorf("%s:%d: %s: %v", p, i+1, m[2], err)
			}
		}
		if tried < 10 {
			t.Errorf("%s: %d settings in comments", p, tried)
		}
	}
}
