package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"rackboot/netboot/probe"
)

// written makes everything in a folder, as on 2026-11-22.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := run([]string{dir}, "1795305600"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEveryCommandHasAPage: each command that help shows has one, with what help says of it.
func TestEveryCommandHasAPage(t *testing.T) {
	dir := written(t)
	count := 0
	for _, p := range programs() {
		var walk func(c *cobra.Command)
		walk = func(c *cobra.Command) {
			count++
			name := strings.ReplaceAll(c.CommandPath(), " ", "-")
			section := "8"
			if p.root.Name() == "rackctl" || p.root.Name() == "rackboot-sim" {
				section = "1"
			}
			raw, err := os.ReadFile(filepath.Join(dir, "man/man"+section, name+"."+section))
			if err != nil {
				t.Error(err)
				return
			}
			text := string(raw)
			for _, want := range []string{
				`.TH "` + escape(strings.ToUpper(name)) + `" "` + section + `" "2026\-11\-22" "Rackboot `,
				"\n.SH \"NAME\"\n" + escape(name+" - "+c.Short) + "\n",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%s has no %q", name, want)
				}
			}
			checkRoff(t, name, text)
			for _, child := range c.Commands() {
				if child.Hidden || (c == p.root && (child.Name() == "help" || child.Name() == "completion")) {
					continue
				}
				if !strings.Contains(text, "\\fB"+escape(child.Name())+"\\fR\n") {
					t.Errorf("%s does not list %s", name, child.Name())
				}
				walk(child)
			}
		}
		walk(p.root)
	}
	if count < 100 {
		t.Errorf("%d commands; there were more", count)
	}
	found := 0
	err := fs.WalkDir(os.DirFS(dir), "man", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	})
	if err != nil || found != count {
		t.Errorf("%d pages of %d commands (%v)", found, count, err)
	}
}

// checkRoff wants requests that man(7) has, and nothing else that begins as one.
func checkRoff(t *testing.T, name, text string) {
	t.Helper()
	known := map[string]bool{".TH": true, ".SH": true, ".PP": true, ".TP": true, ".BR": true, ".nf": true, ".fi": true}
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !known[word] {
			t.Errorf("%s: %q is no request", name, line)
		}
	}
	if strings.Count(text, "\n.nf\n") != strings.Count(text, "\n.fi\n") {
		t.Errorf("%s: .nf and .fi are not pairs", name)
	}
}

func TestRoff(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"words", "a\nb", "a\nb\n"},
		{"a request", ".so x\n'br", "\\&.so x\n\\(aqbr\n"},
		{"hyphens and backslashes", `--x C:\n`, `\-\-x C:\en` + "\n"},
		{"paragraphs", "a\n\nb", "a\n.PP\nb\n"},
		{"a table", "a:\n  1  .x\n  2  y\nb", "a:\n.PP\n.nf\n\\&  1  .x\n\\&  2  y\n.fi\nb\n"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r roff
			r.prose(c.text)
			if got := r.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	var r roff
	r.macro("TH", `a "b"`)
	if got, want := r.String(), ".TH \"a \\(dqb\\(dq\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCompletions: each program has one for each shell, which asks the program itself.
func TestCompletions(t *testing.T) {
	dir := written(t)
	for _, name := range []string{"rackctl", "rackboot-hub", "rackboot-agent", "rackboot-sim"} {
		for _, file := range []string{"bash-completion/completions/" + name, "zsh/site-functions/_" + name, "fish/vendor_completions.d/" + name + ".fish"} {
			raw, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Error(err)
			} else if !strings.Contains(string(raw), "__complete") || !strings.Contains(string(raw), name) {
				t.Errorf("%s does not ask %s", path.Base(file), name)
			}
		}
	}
}

// TestProbe: the page and the completions of rackboot-probe, which are not made by cobra, have
// all that it takes.
func TestProbe(t *testing.T) {
	dir := written(t)
	words := append([]string{"--message", "--url", "--ca", "--inventory", "--lldp", "--deadline"}, probe.Modes()...)
	for _, file := range []string{"man/man8/rackboot-probe.8", "bash-completion/completions/rackboot-probe", "zsh/site-functions/_rackboot-probe", "fish/vendor_completions.d/rackboot-probe.fish"} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, w := range words {
			switch {
			case strings.HasPrefix(file, "man"):
				w = escape(w)
			case strings.HasPrefix(file, "fish"):
				w = strings.Replace(w, "--", "-l ", 1)
			}
			if !strings.Contains(string(raw), w) {
				t.Errorf("%s has no %q:\n%s", file, w, raw)
			}
		}
	}
}

// TestProbeBash: bash completes with what was generated.
func TestProbeBash(t *testing.T) {
	var script bytes.Buffer
	if err := probeBash(&script); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ words, want string }{
		{"rackboot-probe ", "discover installed booted failed"},
		{"rackboot-probe in", "installed"},
		{"rackboot-probe installed --in", "--inventory"},
		{"rackboot-probe failed --message ", ""},
		{"rackboot-probe failed --inventory --d", "--deadline"},
		{"rackboot-probe booted --ca page_t", "page_test.go"},
	} {
		ask := `COMP_LINE=$1; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rackboot_probe; echo "${COMPREPLY[*]}"`
		out, err := exec.CommandContext(t.Context(), "bash", "-c", script.String()+ask, "bash", c.words).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%q is completed with %q, want %q (%v)", c.words, got, c.want, err)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		epoch string
	}{
		{"no folder", nil, ""},
		{"two folders", []string{"a", "b"}, ""},
		{"a date that is none", []string{t.TempDir()}, "today"},
	} {
		if err := run(c.args, c.epoch); err == nil {
			t.Errorf("%s is taken", c.name)
		}
	}
}
