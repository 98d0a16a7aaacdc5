package shellpage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want []Block
	}{
		"none":                 {"words\nand `code`\n", nil},
		"to be run":            {"words\n\n```sh\na\n\nb\n```\nwords\n", []Block{{Line: 4, Language: "sh", Text: "a\n\nb\n"}}},
		"an example":           {"```sh example: needs BMCs\na\n```\n", []Block{{Line: 2, Language: "sh", Example: "needs BMCs", Text: "a\n"}}},
		"a picture":            {"```sh picture: x.svg\na\n```\n", []Block{{Line: 2, Language: "sh", Picture: "x.svg", Text: "a\n"}}},
		"another":              {"```yaml\na: b\n```\n", []Block{{Line: 2, Language: "yaml", Text: "a: b\n"}}},
		"no word":              {"```\na\n```\n", []Block{{Line: 2, Text: "a\n"}}},
		"indented":             {"words:\n\n    a\n      b\n\nwords\n", []Block{{Line: 3, Indented: true, Text: "a\n  b\n\n"}}},
		"a list":               {"- words\n\n    more words\n\nwords\n", nil},
		"in a list":            {"1. words\n   ```sh\n   a\n   ```\n", []Block{{Line: 3, Language: "sh", Text: "a\n"}}},
		"a long line of words": {"words\n    that go on\n", nil},
		"two":                  {"```sh\na\n```\n```sh\nb\n```\n", []Block{{Line: 2, Language: "sh", Text: "a\n"}, {Line: 5, Language: "sh", Text: "b\n"}}},
		"not closed":           {"```sh\na", []Block{{Line: 2, Language: "sh", Text: "a\n"}}},
		"a fence in it":        {"````text\n```sh\n```\n````\n", []Block{{Line: 2, Language: "text", Text: "```sh\n```\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Blocks(c.page)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLast(t *testing.T) {
	for text, want := range map[string]string{"a\nb  c\n\n": "b  c", "a\n": "a", "": ""} {
		if got := (Block{Text: text}).Last(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("```sh\na\n```\n    b\n- c\n")
	f.Fuzz(func(t *testing.T, page string) {
		for _, b := range Blocks(page) {
			if b.Line < 1 || strings.Contains(b.Last(), "\n") {
				t.Errorf("line %d, %q", b.Line, b.Last())
			}
		}
	})
}
