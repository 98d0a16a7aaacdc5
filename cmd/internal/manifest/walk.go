package manifest

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"rackboot/protocol/resource"
)

// walker turns a syntax tree into what json.Marshal takes, along a Go type. It
// leaves out what is wrong and goes on.
type walker struct {
	doc   *document
	lines map[string]int
	errs  Errors
}

func (w *walker) object(n ast.Node, obj resource.Object) any {
	v, _ := w.value(n, reflect.TypeOf(obj).Elem(), "")
	return v
}

func (w *walker) fail(path, format string, args ...any) (any, bool) {
	w.errs = append(w.errs, w.doc.at(path, fmt.Sprintf(format, args...)))
	return nil, false
}

// blamed says whether the path, a part of it or what it is part of is wrong
// already, so that its absence is no news.
func (w *walker) blamed(path string) bool {
	for _, e := range w.errs {
		if e.Path == path || strings.HasPrefix(e.Path, path+".") || strings.HasPrefix(e.Path, path+"[") ||
			(e.Path != "" && (strings.HasPrefix(path, e.Path+".") || strings.HasPrefix(path, e.Path+"["))) {
			return true
		}
	}
	return false
}

// value returns the value for JSON; false if there is none, because it is wrong
// (which was reported) or null.
func (w *walker) value(n ast.Node, t reflect.Type, path string) (any, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil, false
	case *ast.AnchorNode, *ast.AliasNode:
		return w.fail(path, "anchors and aliases are not read; write the value out")
	case *ast.TagNode:
		return w.fail(path, "the tag %s is not read; leave it out", n.Start.Value)
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return w.parsed(n, t, path)
	}
	switch t.Kind() {
	case reflect.Interface:
		return w.anything(n, path)
	case reflect.Struct:
		return w.structure(n, t, path)
	case reflect.Map:
		return w.dictionary(n, t, path)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			if t == reflect.TypeFor[resource.Plain]() {
				return w.plain(n, path)
			}
			return w.base64(n, path)
		}
		return w.list(n, t, path)
	case reflect.String:
		if s, ok := text(n); ok {
			return s, true
		}
		return w.fail(path, "is %s, not text%s", describe(n), quoteIt(n))
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			return b.Value, true
		}
		return w.fail(path, "is %s, not true or false", describe(n))
	}
	return w.number(n, t, path)
}

func (w *walker) structure(n ast.Node, t reflect.Type, path string) (any, bool) {
	entries, ok := mapping(n)
	if !ok {
		return w.fail(path, "is %s, not a mapping", describe(n))
	}
	known := fields(t)
	out := map[string]any{}
	w.entries(entries, path, func(key, at string, v ast.Node) {
		ft, ok := known[key]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			sort.Strings(names)
			w.fail(at, "is no field here%s; there are %s", meant(key, names), strings.Join(names, ", ")) //nolint:errcheck // reports
			return
		}
		if got, ok := w.value(v, ft, at); ok {
			out[key] = got
		}
	})
	return out, true
}

func (w *walker) dictionary(n ast.Node, t reflect.Type, path string) (any, bool) {
	entries, ok := mapping(n)
	if !ok {
		return w.fail(path, "is %s, not a mapping", describe(n))
	}
	out := map[string]any{}
	w.entries(entries, path, func(key, at string, v ast.Node) {
		if _, null := v.(*ast.NullNode); null {
			w.fail(at, `has no value; write "" for empty text`) //nolint:errcheck // reports
			return
		}
		if got, ok := w.value(v, t.Elem(), at); ok {
			out[key] = got
		}
	})
	return out, true
}

// entries calls fn for each key of a mapping that is text and not given twice.
func (w *walker) entries(entries []*ast.MappingValueNode, path string, fn func(key, at string, v ast.Node)) {
	here := map[string]int{}
	for _, e := range entries {
		line := w.doc.lineOf(e.Key)
		if _, merge := e.Key.(*ast.MergeKeyNode); merge {
			w.lineError(path, line, "merge keys (<<) are not read; write the fields out")
			continue
		}
		key, ok := e.Key.(*ast.StringNode)
		if !ok {
			w.lineError(path, line, fmt.Sprintf("the key %s is %s, not text; put it in quotes", keyText(e.Key), describe(e.Key)))
			continue
		}
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		if first, twice := here[key.Value]; twice {
			w.lineError(at, line, fmt.Sprintf("is given twice, first on line %d", first))
			continue
		}
		here[key.Value] = line
		w.lines[at] = line
		fn(key.Value, at, e.Value)
	}
}

func (w *walker) lineError(path string, line int, message string) {
	e := w.doc.at(path, message)
	e.Line, e.Text = line, w.doc.quoted(line)
	w.errs = append(w.errs, e)
}

func (w *walker) list(n ast.Node, t reflect.Type, path string) (any, bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return w.fail(path, "is %s, not a list", describe(n))
	}
	out := []any{}
	for i, v := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		w.lines[at] = w.doc.lineOf(v)
		if _, null := v.(*ast.NullNode); null {
			w.fail(at, "has no value; leave it out") //nolint:errcheck // reports
			continue
		}
		if got, ok := w.value(v, t.Elem(), at); ok {
			out = append(out, got)
		}
	}
	return out, true
}

// parsed is a scalar whose type reads text: a duration or a time.
func (w *walker) parsed(n ast.Node, t reflect.Type, path string) (any, bool) {
	s, ok := scalar(n)
	if !ok {
		return w.fail(path, "is %s, not text", describe(n))
	}
	err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	switch {
	case err == nil:
		return s, true
	case t == reflect.TypeFor[time.Time]():
		return w.fail(path, "%q is not a time such as 2026-11-20T09:00:00Z", s)
	}
	return w.fail(path, "%s", err)
}

func (w *walker) base64(n ast.Node, path string) (any, bool) {
	s, ok := text(n)
	if !ok {
		return w.fail(path, "is %s, not text in base64", describe(n))
	}
	if _, err := base64.StdEncoding.DecodeString(s); err != nil {
		return w.fail(path, "is not text in base64")
	}
	return s, true
}

// plain is a secret value; what is there instead is not said.
func (w *walker) plain(n ast.Node, path string) (any, bool) {
	s, ok := text(n)
	if _, err := base64.StdEncoding.DecodeString(s); !ok || err != nil {
		return w.fail(path, "is not text in base64; rackctl secret set takes values as they are")
	}
	return s, true
}

func (w *walker) number(n ast.Node, t reflect.Type, path string) (any, bool) {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return w.fail(path, "is %s, not a number", describe(n))
	}
	raw, err := json.Marshal(i.Value)
	if err != nil || json.Unmarshal(raw, reflect.New(t).Interface()) != nil {
		return w.fail(path, "the number %s is out of range", i.GetToken().Value)
	}
	return i.Value, true
}

// fields are the JSON names of a struct's fields, those of embedded structs
// included, with their types.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
		case f.Anonymous && name == "":
			maps.Copy(out, fields(f.Type))
		case name == "":
			out[f.Name] = f.Type
		default:
			out[name] = f.Type
		}
	}
	return out
}
