package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/integration/shellpage"
)

// TestPageManifests: what the pages show of manifests has only fields that there are. They
// show parts: what only a whole one needs is put in or passed over.
func TestPageManifests(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, page := range append(pages, filepath.Join(top, "README.md")) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range shellpage.Blocks(string(raw)) {
			if b.Language != "yaml" || !strings.HasPrefix(b.Text, "kind: ") {
				continue
			}
			tried++
			for _, wrong := range wrongFields(b.Text) {
				t.Errorf("%s:%d: %s", filepath.Base(page), b.Line, wrong)
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d manifests", tried)
	}
}

// wrongFields are the fields of a part of a manifest that no manifest has.
func wrongFields(text string) (out []string) {
	_, err := Parse([]Source{{Name: "page", Data: []byte("apiVersion: rackboot/v1\nmetadata: {name: x}\n" + text)}})
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, "is no field here") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestPageManifestsCanFail(t *testing.T) {
	if got := wrongFields("kind: Server\nspec:\n  segment: boot-a\n"); len(got) != 1 {
		t.Errorf("a wrong field: %q", got)
	}
	if got := wrongFields("kind: Server\nspec:\n  segmentRef: {name: boot-a}\n"); len(got) != 0 {
		t.Errorf("a part of a manifest: %q", got)
	}
}
