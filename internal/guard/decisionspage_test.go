package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each decision stands once on the page of all, with its title.
func TestDecisionsPage(t *testing.T) {
	page, err := os.ReadFile("docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("docs/adr/0*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	titles := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(raw), "\n")
		titles[filepath.Base(f)] = first
	}
	for _, wrong := range unlisted(string(page), titles) {
		t.Error(wrong)
	}
	first := filepath.Base(files[0])
	for _, broken := range []string{
		strings.Replace(string(page), first, "0000-x.md", 1), string(page) + "- [0001](" + first + ") x\n", strings.Replace(string(page), first+") ", first+") x", 1),
	} {
		if len(unlisted(broken, titles)) == 0 {
			t.Error("a wrong page is not noticed")
		}
	}
}

// unlisted are the decisions that do not stand once on a page, with the title that is their first line.
func unlisted(page string, titles map[string]string) (wrong []string) {
	listed := map[string]int{}
	for line := range strings.Lines(page) {
		number, rest, is := strings.Cut(strings.TrimPrefix(line, "- ["), "](")
		if !is || !strings.HasPrefix(line, "- [") {
			continue
		}
		file, title, _ := strings.Cut(strings.TrimSpace(rest), ") ")
		listed[file]++
		if want := titles[file]; want != "# "+number+". "+title {
			wrong = append(wrong, fmt.Sprintf("%s is listed as %q, and begins with %q", file, title, want))
		}
	}
	for file := range titles {
		if listed[file] != 1 {
			wrong = append(wrong, fmt.Sprintf("%s is listed %d times", file, listed[file]))
		}
	}
	return wrong
}
