package rackboot

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"testing"
)

// forbidden are words that say where or how a line was written, not what it
// does. The patterns are split so that this file does not match itself.
func forbidden() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a path of one machine":                 regexp.MustCompile(`/wor` + `k/|/ho` + `me/[a-z]|/ro` + `ot/|/User` + `s/`),
		"an issue number without its project":   regexp.MustCompile(`(?i)\b(issue|ticket|task|pull request|pr)s?[ -]?#\d|\bsee #` + `\d`),
		"who or what typed it":                  regexp.MustCompile(`(?i)\b(sub` + `agent|cla` + `ude|co` + `pilot|chat` + `gpt|farm-` + `studio)\b`),
		"unfinished work":                       regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`),
		"a debugging aid":                       regexp.MustCompile(`\bspew\.|\bprint` + `ln\(`),
		"a conflict marker":                     regexp.MustCompile(`(?m)^(<<<<` + `<<<|>>>>` + `>>>) `),
		"a table that stays with the designers": regexp.MustCompile(`\bfact` + `s/[a-z-]+\.md|\bdesi` + `gn\.md\b`),
	}
}

// What is committed is written for users and contributors.
func TestWords(t *testing.T) {
	for p, text := range files(t, func(p string) bool { return path.Base(p) != "go.sum" }) {
		report(t, words(p, text))
	}
}

// words returns the forbidden words of a text file, one problem for each line.
func words(p string, text []byte) []string {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil // not text
	}
	var problems []string
	for what, re := range forbidden() {
		for _, at := range re.FindAllIndex(text, -1) {
			line := bytes.Count(text[:at[0]], []byte("\n")) + 1
			problems = append(problems, fmt.Sprintf("%s:%d: %q is %s", p, line, text[at[0]:at[1]], what))
		}
	}
	return problems
}

func TestWordsCanFail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"power; powerman #154", ""},
		{"a session of the BMC; an agent", ""},
		{"\x00/ho" + "me/me", ""},
		{"\nat /wor" + "k/x", "x.md:2"},
		{"/ho" + "me/me", "one machine"},
		{"fixes issu" + "e #12", "issue number"},
		{"// TO" + "DO", "unfinished"},
		{"Clau" + "de", "typed"},
		{"<<<<" + "<<< HEAD", "conflict"},
		{"see fact" + "s/x.md", "designers"},
	} {
		expect(t, words("x.md", []byte(c.text)), c.want)
	}
}
