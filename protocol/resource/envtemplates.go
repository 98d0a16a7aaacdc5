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
func CalledTemplates(v any) (names []string) {
	switch v := v.(type) {
	case string:
		return callsIn(v)
	case []any:
		for _, e := range v {
			names = append(names, CalledTemplates(e)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			names = append(names, CalledTemplates(v[k])...)
		}
	}
	return names
}

// callsIn are the literals behind CallTemplate and template in a text, in any of
// text/template's spellings of a string.
func callsIn(text string) (names []string) {
	for _, word := range []string{"CallTemplate", "template"} {
		for rest := text; ; {
			var ok bool
			if _, rest, ok = strings.Cut(rest, word); !ok {
				break
			}
			literal, err := strconv.QuotedPrefix(strings.TrimLeft(rest, " \t\r\n("))
			if err != nil {
				continue
			}
			if name, err := strconv.Unquote(literal); err == nil {
				names = append(names, name)
			}
		}
	}
	return names
}
