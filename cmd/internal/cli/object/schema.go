package object

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// maxDepth bounds how deep --recursive goes: a schema may be part of itself.
const maxDepth = 8

// explainedKind finds the kind that something explains: claim, claims.spec or Claim.spec.bootPolicy.
func explainedKind(what string) (kind resource.Kind, path []string, ok bool) {
	words := strings.Split(what, ".")
	kind, ok = resource.ParseKind(words[0])
	return kind, words[1:], ok
}

// fieldValue is a field of a resource, for other programs.
type fieldValue struct {
	Kind        resource.Kind `json:"kind"`
	Path        string        `json:"path,omitempty"`
	Type        string        `json:"type"`
	Description string        `json:"description,omitempty"`
	Fields      []fieldLine   `json:"fields,omitempty"`
}

// fieldLine is a field below it.
type fieldLine struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description,omitempty"`

	depth int
}

// schemas are those of a hub's document.
type schemas map[string]*api.Schema

// follow is a schema itself, or that which it refers to.
func (d schemas) follow(s *api.Schema) *api.Schema {
	for range maxDepth {
		if s == nil || s.Ref == "" {
			return s
		}
		s = d[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	return nil
}

// inner is the schema whose fields a path goes into: that of a list is of its items, and of a map of its values.
func (d schemas) inner(s *api.Schema) *api.Schema {
	for range maxDepth {
		s = d.follow(s)
		switch {
		case s == nil:
			return nil
		case s.Items != nil:
			s = s.Items
		case valueOf(s) != nil:
			s = valueOf(s)
		default:
			return s
		}
	}
	return nil
}

// valueOf is the schema of a map's values; nil of what is no map.
func valueOf(s *api.Schema) *api.Schema {
	m, ok := s.AdditionalProperties.(map[string]any)
	if !ok || len(m) == 0 {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	var out api.Schema
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return &out
}

// typeOf is a schema's type as kubectl writes one: string, []Object, map[string]string.
func (d schemas) typeOf(s *api.Schema) string {
	s = d.follow(s)
	switch {
	case s == nil:
		return "Object"
	case s.Items != nil:
		return "[]" + d.typeOf(s.Items)
	case valueOf(s) != nil:
		return "map[string]" + d.typeOf(valueOf(s))
	case s.Properties != nil:
		return "Object"
	}
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		var words []string
		for _, w := range t {
			if w != "null" {
				words = append(words, fmt.Sprint(w))
			}
		}
		return strings.Join(words, "|")
	}
	return "any"
}

// explain finds the field at a path of a kind.
func (d schemas) explain(kind resource.Kind, path []string, recursive bool) (fieldValue, error) {
	s := d[string(kind)]
	out := fieldValue{Kind: kind, Path: strings.Join(path, "."), Type: d.typeOf(s), Description: describedAs(d, s)}
	for i, step := range path {
		in := d.inner(s)
		if in == nil || in.Properties[step] == nil {
			at := strings.Join(append([]string{strings.ToLower(string(kind))}, path[:i]...), ".")
			e := protocol.Errorf(protocol.CodeNotFound, "explain", "%s has no field %q", at, step)
			if in != nil && len(in.Properties) > 0 {
				return out, e.WithHint("it has %s", strings.Join(slices.Sorted(maps.Keys(in.Properties)), ", "))
			}
			return out, e.WithHint("it has no fields")
		}
		s = in.Properties[step]
		out.Type, out.Description = d.typeOf(s), describedAs(d, s)
	}
	depth := 1
	if recursive {
		depth = maxDepth
	}
	out.Fields = d.fields(s, 0, depth)
	return out, nil
}

// describedAs is what a field says, and else what its type says.
func describedAs(d schemas, s *api.Schema) string {
	if s != nil && s.Description != "" {
		return s.Description
	}
	if in := d.inner(s); in != nil {
		return in.Description
	}
	return ""
}

// fields are those of a schema, in the order of the alphabet, each with its own below it.
func (d schemas) fields(s *api.Schema, depth, most int) (out []fieldLine) {
	in := d.inner(s)
	if in == nil || depth == most {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		f := in.Properties[name]
		out = append(out, fieldLine{name, d.typeOf(f), slices.Contains(in.Required, name), describedAs(d, f), depth})
		out = append(out, d.fields(f, depth+1, most)...)
	}
	return out
}

// text is a field as people read it, in so many columns; 0 is no bound.
func (f fieldValue) text(columns int, recursive bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "KIND:     %s\nVERSION:  %s\n", f.Kind, resource.APIVersion)
	if f.Path != "" {
		fmt.Fprintf(&b, "\nFIELD: %s <%s>\n", f.Path, f.Type)
	}
	if f.Description != "" {
		b.WriteString("\nDESCRIPTION:\n")
		indented(&b, f.Description, 4, columns)
	}
	if len(f.Fields) > 0 {
		b.WriteString("\nFIELDS:\n")
	}
	for _, l := range f.Fields {
		required := ""
		if l.Required {
			required = " -required-"
		}
		fmt.Fprintf(&b, "%s%s <%s>%s\n", strings.Repeat("  ", l.depth+1), l.Name, l.Type, required)
		if l.Description != "" && !recursive {
			indented(&b, l.Description, 4, columns)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indented(b *strings.Builder, text string, by, columns int) {
	for _, line := range printer.Wrap(text, max(columns-by, 40)) {
		b.WriteString(strings.Repeat(" ", by) + line + "\n")
	}
}
