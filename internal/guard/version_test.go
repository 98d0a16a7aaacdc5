package guard

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestVersion: what a plain go build calls itself is what the Makefile gives to programs,
// packages and images.
func TestVersion(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^VERSION +\?= (\d+\.\d+\.\d+(-dev)?)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile names no version")
	}
	named := 0
	for _, s := range sources(t, func(p string) bool { return strings.HasPrefix(p, "cmd/") && strings.HasSuffix(p, "/main.go") }) {
		m := regexp.MustCompile(`(?m)^var version = "(.*)"$`).FindSubmatch(s.text)
		if m == nil {
			continue
		}
		named++
		if string(m[1]) != string(found[1]) {
			t.Errorf("%s: version %s, the Makefile has %s", s.path, m[1], found[1])
		}
	}
	if named < 4 {
		t.Errorf("%d programs name their version", named)
	}
}
