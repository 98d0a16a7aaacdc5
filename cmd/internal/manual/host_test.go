//go:build host

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestReaders: groff formats every page without a warning, and each shell reads its
// completions.
func TestReaders(t *testing.T) {
	dir := written(t)
	for _, c := range []struct {
		name, glob string
		args       []string
	}{
		{"pages", "man/man?/*", []string{"groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z"}},
		{"bash", "bash-completion/completions/*", []string{"bash", "-n"}},
		{"zsh", "zsh/site-functions/*", []string{"zsh", "-n"}},
		{"fish", "fish/vendor_completions.d/*", []string{"fish", "--no-execute"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := filepath.Glob(filepath.Join(dir, c.glob))
			if err != nil || len(all) < 5 {
				t.Fatalf("%d files, %v", len(all), err)
			}
			for _, file := range all {
				args := append(c.args[1:len(c.args):len(c.args)], file)
				if said, err := exec.Command(c.args[0], args...).CombinedOutput(); err != nil || len(said) > 0 {
					t.Errorf("%s: %v: %s", filepath.Base(file), err, said)
				}
			}
		})
	}
}
