package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/integration/firsthour"
	"rackboot/integration/shellpage"
)

// Every command block of the pages that people work by is run by a test, or says why not.
func TestShellPages(t *testing.T) {
	var guide []string
	for _, folder := range []string{"guide", "reference"} {
		found, err := filepath.Glob("docs/" + folder + "/*.md")
		if err != nil || len(found) < 5 {
			t.Fatalf("%d pages of the %s, %v", len(found), folder, err)
		}
		guide = append(guide, found...)
	}
	shown := map[string]bool{}
	run := map[string]bool{}
	for _, j := range firsthour.Journeys() {
		for _, p := range j.Pages {
			run[p] = true
		}
	}
	pages := append([]string{"README.md"}, guide...)
	for _, p := range pages {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		report(t, shellPageProblems(p, string(raw), run[p]))
		for _, b := range shellpage.Blocks(string(raw)) {
			shown[b.Picture] = true
		}
	}
	drawn, err := filepath.Glob("docs/pictures/*.svg")
	if err != nil || len(drawn) < 5 {
		t.Errorf("%d pictures, %v", len(drawn), err)
	}
	for _, p := range drawn {
		if !shown[filepath.Base(p)] {
			t.Errorf("%s is of no block; delete it", p)
		}
	}
	for p := range run {
		if !slices.Contains(pages, p) {
			t.Errorf("a journey has %s, which is none of these pages", p)
		}
	}
}

// shellPageProblems is what is wrong with the blocks of a page, which a journey runs or not.
func shellPageProblems(page, text string, run bool) (problems []string) {
	add := func(b shellpage.Block, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: ", page, b.Line)+fmt.Sprintf(format, args...))
	}
	runs := 0
	for _, b := range shellpage.Blocks(text) {
		switch {
		case b.Indented:
			add(b, "a block that is indented; write it between fences, ```sh or another language")
		case b.Language == "":
			add(b, "a block without a language; ```sh is run, ```text is not")
		case slices.Contains([]string{"bash", "shell", "console", "shell-session", "zsh"}, b.Language):
			add(b, "```%s is run by nobody; write ```sh", b.Language)
		case b.Info != "" && b.Language == "sh":
			add(b, "```sh %s says nothing; write ```sh example: and why nobody runs it", b.Info)
		case b.Runs():
			runs++
			if b.Picture != "" && !strings.Contains(text, "pictures/"+b.Picture+")") {
				add(b, "the page does not show picture %s", b.Picture)
			}
			if !run {
				add(b, "no test runs it; add the page to a journey of integration/firsthour, or write ```sh example: and why")
			}
		}
	}
	if run && runs == 0 {
		problems = append(problems, page+": a journey has it, and it has no block that runs")
	}
	return problems
}

func TestShellPagesCanFail(t *testing.T) {
	for _, c := range []struct {
		name, text string
		run        bool
		want       string
	}{
		{"good", "```sh\na\n```\n```sh example: why\nb\n```\n```yaml\na: b\n```\n", true, ""},
		{"good without a journey", "```sh example: why\nb\n```\n", false, ""},
		{"run by nobody", "\n```sh\na\n```\n", false, "x.md:3: no test runs it"},
		{"no reason", "```sh example\na\n```\n", false, "says nothing"},
		{"indented", "words:\n\n    rackctl get servers\n", false, "x.md:3: a block that is indented"},
		{"no language", "```\na\n```\n", false, "without a language"},
		{"another shell", "```bash\na\n```\n", false, "write ```sh"},
		{"a picture", "```sh picture: a.svg\na\n```\n![a](../pictures/a.svg)\n", true, ""},
		{"a picture not shown", "```sh picture: a.svg\na\n```\n", true, "does not show picture a.svg"},
		{"nothing to run", "```sh example: why\na\n```\n", true, "has no block that runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, shellPageProblems("x.md", c.text, c.run), c.want)
		})
	}
}
