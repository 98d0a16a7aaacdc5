package guard

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s:]*)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// What GitHub leaves out of the anchor of a heading.
	notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// Every link of a page to a file of this tree has its file, and its heading.
func TestPageLinks(t *testing.T) {
	all := files(t, func(string) bool { return true })
	pages := 0
	for p, text := range all {
		if path.Ext(p) == ".md" {
			pages++
			report(t, deadLinks(p, string(text), all))
		}
	}
	if pages < 100 {
		t.Errorf("%d pages", pages)
	}
}

// deadLinks are the links of a page whose file or heading is not there.
func deadLinks(page, text string, all map[string][]byte) (problems []string) {
	for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
		file, anchor, _ := strings.Cut(m[1], "#")
		target := page
		if file != "" {
			target = path.Join(path.Dir(page), file)
		}
		raw, ok := all[target]
		switch {
		case !ok && !hasFolder(all, target):
			problems = append(problems, fmt.Sprintf("%s: there is no %s", page, target))
		case anchor != "" && !anchors(string(raw))[anchor]:
			problems = append(problems, fmt.Sprintf("%s: %s has no heading #%s", page, target, anchor))
		}
	}
	return problems
}

func hasFolder(all map[string][]byte, folder string) bool {
	for p := range all {
		if strings.HasPrefix(p, folder+"/") {
			return true
		}
	}
	return false
}

// anchors are those of the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range pageHeading.FindAllStringSubmatch(text, -1) {
		found[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return found
}

func TestPageLinksCanFail(t *testing.T) {
	all := map[string][]byte{"docs/a.md": []byte("# A, b\n## What's `x`?\n"), "docs/x/b.md": nil}
	for _, c := range []struct{ name, text, want string }{
		{"good", "[a](../a.md#a-b) [b](../a.md#whats-x) [c](b.md) [d](../x) [e](https://example.com/x.md)", ""},
		{"no file", "[a](c.md)", "there is no docs/x/c.md"},
		{"no heading", "[a](../a.md#c)", "no heading #c"},
		{"no heading of its own", "[a](#c)", "no heading #c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, deadLinks("docs/x/b.md", c.text, all), c.want)
		})
	}
}
