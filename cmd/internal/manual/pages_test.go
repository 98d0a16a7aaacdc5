package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	// A command of a page, up to the end of its line, of its code span or of the command; not the
	// name of a container.
	saidCommand = regexp.MustCompile("(?:^|[^/a-z-])(--name )?((?:rackctl|rackboot-hub|rackboot-agent|rackboot-sim) [^`\n|>;)&#]*)")
	saidWord    = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	saidFlag    = regexp.MustCompile(`^--([a-z][a-z0-9-]*)`)
)

// TestPagesNameCommands: the commands that pages name are there, with their flags, also
// those in blocks that nobody runs.
func TestPagesNameCommands(t *testing.T) {
	all, checked := roots(), 0
	top := filepath.Join("..", "..", "..")
	for _, like := range []string{"README.md", "docs/*.md", "docs/guide/*.md", "docs/reference/*.md"} {
		pages, err := filepath.Glob(filepath.Join(top, like))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v", like, err)
		}
		for _, page := range pages {
			raw, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range saidCommand.FindAllStringSubmatch(string(raw), -1) {
				if checked++; m[1] != "" {
					continue
				}
				if wrong := misnamed(all, m[2]); wrong != "" {
					t.Errorf("%s: %s: %s", filepath.Base(page), strings.TrimSpace(m[2]), wrong)
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("%d commands", checked)
	}
}

// roots are the programs with commands, by name.
func roots() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	for _, p := range programs() {
		all[p.root.Name()] = p.root
	}
	return all
}

// misnamed is what a command of a page names that its program does not have. The word behind
// a program may be one of a sentence ("rackctl waits"): that is let through.
func misnamed(all map[string]*cobra.Command, said string) string {
	words := strings.Fields(said)
	at := all[words[0]]
	if at == nil {
		return "there is no such program"
	}
	rest := words[1:]
	for len(rest) > 0 && saidWord.MatchString(rest[0]) {
		next := child(at, rest[0])
		if next == nil {
			break
		}
		at, rest = next, rest[1:]
	}
	for _, w := range rest {
		m := saidFlag.FindStringSubmatch(w)
		if m == nil || m[1] == "help" {
			continue
		}
		if at.Flag(m[1]) == nil && at.InheritedFlags().Lookup(m[1]) == nil {
			return fmt.Sprintf("%s has no --%s", at.CommandPath(), m[1])
		}
	}
	if len(rest) > 0 && at.HasSubCommands() && saidWord.MatchString(rest[0]) && at.HasParent() {
		return fmt.Sprintf("%s has no %s", at.CommandPath(), rest[0])
	}
	return ""
}

func child(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name || sub.HasAlias(name) {
			return sub
		}
	}
	return nil
}

func TestPagesNameCommandsCanFail(t *testing.T) {
	all := roots()
	for _, c := range []struct{ said, want string }{
		{"rackctl fence server-1 --key maintenance --reason x", ""},
		{"rackctl group revert workers 3 --dry-run", ""},
		{"rackctl waits", ""},
		{"rackctl fence server-1 --hard", "rackctl fence has no --hard"},
		{"rackctl group undo workers", "rackctl group has no undo"},
		{"rackboot-hub keys rotate --finish", "rackboot-hub keys rotate has no --finish"},
	} {
		if got := misnamed(all, c.said); got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
}
