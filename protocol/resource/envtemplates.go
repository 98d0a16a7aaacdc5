package resource

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// EnvTemplates are the Templates that a description names, by id or by a literal, and
// those that others name, with what they name over and over. What all does not have is
// left out.
func EnvTemplates(s BootEnvSpec, others []string, all func(name string) (contents string, ok bool)) map[string]string {
	out, open := map[string]string{}, slices.Clone(others)
	for _, t := range s.Templates {
		open = append(open, t.ID)
	}
	// The description is walked as JSON, so that no field is forgotten that is added later.
	if raw, err := json.Marshal(s); err == nil {
		var spec any
		if json.Unmarshal(raw, &spec) == nil {
			open = append(open, CalledTemplates(spec)...)
		}
	}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if _, there := out[name]; there {
			continue
		}
		if text, ok := all(name); ok {
			out[name] = text
			open = append(open, callsIn(text)...)
		}
	}
	return out
}

// CalledTemplates are the names of Templates that any text in a value calls by a literal. The
// value is one that was decoded from JSON.
func CalledTemplates(v any) []string { return inTexts(v, callsIn) }

// NamedParams are the names of params that any text in a value asks for by a literal, as in
// {{.Param "net/domain"}}. The value is one that was decoded from JSON.
func NamedParams(v any) []string {
	return inTexts(v, func(text string) []string { return literalsAfter(text, "Param", true) })
}

// inTexts is what a function finds in the texts of a value.
func inTexts(v any, find func(text string) []string) (names []string) {
	switch v := v.(type) {
	case string:
		return find(v)
	case []any:
		for _, e := range v {
			names = append(names, inTexts(e, find)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			names = append(names, inTexts(v[k], find)...)
		}
	}
	return names
}

// callsIn are the literals behind CallTemplate and template in a text.
func callsIn(text string) (names []string) {
	return append(literalsAfter(text, "CallTemplate", false), literalsAfter(text, "template", false)...)
}

// literalsAfter are the literals behind a word in a text, in any of text/template's
// spellings of a string. With longer, words count that go on after it, as ParamExpand.
func literalsAfter(text, word string, longer bool) (names []string) {
	for rest := text; ; {
		var ok bool
		if _, rest, ok = strings.Cut(rest, word); !ok {
			return names
		}
		at := rest
		if longer {
			at = strings.TrimLeft(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
		}
		literal, err := strconv.QuotedPrefix(strings.TrimLeft(at, " \t\r\n("))
		if err != nil {
			continue
		}
		if name, err := strconv.Unquote(literal); err == nil {
			names = append(names, name)
		}
	}
}
