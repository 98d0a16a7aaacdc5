package guard

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDist: a release begins in a folder that has nothing of an earlier one, which is said, and
// nothing that somebody else put there is touched.
func TestDist(t *testing.T) {
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	sums := sum("old") + "  rackctl_0.0.9_amd64.deb\n" + sum("gone") + "  NOTICE\n"
	for name, row := range map[string]struct {
		files map[string]string
		left  []string
		said  string
		code  int
	}{
		"no folder":            {nil, nil, "", 0},
		"an earlier release":   {map[string]string{"SHA256SUMS": sums, "rackctl_0.0.9_amd64.deb": "old"}, nil, "removing DIST/rackctl_0.0.9_amd64.deb, of an earlier release\n", 0},
		"something else":       {map[string]string{"mine": "x", "sub/mine too": "x"}, []string{"mine", "sub/mine too"}, "    mine\n    sub/mine too\n", 1},
		"both":                 {map[string]string{"SHA256SUMS": sums, "rackctl_0.0.9_amd64.deb": "old", "mine": "x"}, []string{"mine"}, "    mine\n", 1},
		"one that was changed": {map[string]string{"SHA256SUMS": sums, "rackctl_0.0.9_amd64.deb": "mine"}, []string{"rackctl_0.0.9_amd64.deb"}, "    rackctl_0.0.9_amd64.deb\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dist")
			for file, text := range row.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "tools/dist", dir)
			out, _ := cmd.CombinedOutput() // judged by the code
			if code := cmd.ProcessState.ExitCode(); code != row.code || !strings.Contains(strings.ReplaceAll(string(out), dir, "DIST"), row.said) {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			var left []string
			if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					left = append(left, strings.TrimPrefix(path, dir+"/"))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(left, row.left) {
				t.Errorf("left are %q, want %q", left, row.left)
			}
		})
	}
}
