package convert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// separator stands between the steps of a path inside the core; no key of JSON or YAML that was read has it,
// because [Read] refuses control characters in keys.
const separator = "\x1f"

// Object is one object of the input, whose fields are marked while it is read.
type Object struct {
	c          *Conversion
	file, name string
	root       any
	marks      map[string]*Finding
}

// Field is a field of an object, which need not be there: then it is empty, and a mark does nothing.
type Field struct {
	o     *Object
	path  string // steps with separators
	value any
	there bool
}

// Field is a field below the root, by the steps of its path.
func (o *Object) Field(steps ...string) Field {
	return Field{o, "", o.root, true}.Field(steps...)
}

// Whole is the object itself as a field.
func (o *Object) Whole() Field { return Field{o, "", o.root, true} }

// Refuse says that the whole object was refused, and takes back what was said of its fields before.
func (o *Object) Refuse(code Code) {
	clear(o.marks)
	o.Whole().Refused(code)
}

// Field is a field below this one.
func (f Field) Field(steps ...string) Field {
	for _, s := range steps {
		m, _ := f.value.(map[string]any)
		v, there := m[s]
		f = Field{f.o, below(f.path, s), v, there}
	}
	return f
}

func below(path, step string) string {
	if path == "" {
		return step
	}
	return path + separator + step
}

// There reports whether the input has the field, with whatever value.
func (f Field) There() bool { return f.there }

// Text is the value of a scalar as a text; empty for a list, a mapping and null.
func (f Field) Text() string { return textOf(f.value) }

func textOf(v any) string {
	switch v := v.(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// Bool reports whether the value is true, also as a text.
func (f Field) Bool() bool {
	is, err := strconv.ParseBool(f.Text())
	return err == nil && is
}

// Value is the value as it was read; nil if it is not there.
func (f Field) Value() any { return f.value }

// Keys are the keys of a mapping in order.
func (f Field) Keys() []string {
	m, _ := f.value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// Items are the entries of a list.
func (f Field) Items() []Field {
	list, _ := f.value.([]any)
	out := make([]Field, len(list))
	for i, v := range list {
		out[i] = Field{f.o, below(f.path, "["+strconv.Itoa(i)+"]"), v, true}
	}
	return out
}

// Texts are the scalars of a list.
func (f Field) Texts() []string {
	var out []string
	for _, it := range f.Items() {
		out = append(out, it.Text())
	}
	return out
}

// Taken says that a scalar is in a manifest as it is: where, as [At] writes it. A mapping or list is not marked:
// a reader that expected a scalar has not read what is in it.
func (f Field) Taken(to ...string) {
	if f.scalar() {
		f.mark(Taken, "", to)
	}
}

// Copied says that the field is in a manifest with everything that is below it.
func (f Field) Copied(to ...string) { f.mark(Taken, "", to) }

// Changed says that a scalar is in a manifest in another form.
func (f Field) Changed(code Code, to ...string) {
	if f.scalar() {
		f.mark(Changed, code, to)
	}
}

func (f Field) scalar() bool {
	switch f.value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// Each says of each scalar of a list that it is in a manifest as it is.
func (f Field) Each(to ...string) {
	for _, it := range f.Items() {
		it.Taken(to...)
	}
}

// NoEqual says that there is nothing for the field. One that is empty says nothing that could be lost.
func (f Field) NoEqual(code Code) {
	if empty(f.value) {
		f.mark(Taken, Empty, nil)
		return
	}
	f.mark(NoEqual, code, nil)
}

// Meant is NoEqual of a field that says something by being there, also when it is empty.
func (f Field) Meant(code Code) { f.mark(NoEqual, code, nil) }

// Refused says that the field cannot be taken.
func (f Field) Refused(code Code) { f.mark(Refused, code, nil) }

// mark keeps the worst of what was said of the field, and all places that it went to.
func (f Field) mark(fate Fate, code Code, to []string) {
	if !f.there {
		return
	}
	was, marked := f.o.marks[f.path]
	if !marked {
		f.o.marks[f.path] = &Finding{Fate: fate, Code: code, To: slices.Clone(to)}
		return
	}
	for _, t := range to {
		if !slices.Contains(was.To, t) {
			was.To = append(was.To, t)
		}
	}
	if slices.Index(Fates(), fate) > slices.Index(Fates(), was.Fate) {
		was.Fate, was.Code = fate, code
	}
}

// At is how a report names a field of a manifest.
func At(object, field string) string { return object + " " + field }

// Close reports what was marked, and of everything that was not that the field is unknown. The object must
// not be used afterwards.
func (o *Object) Close() {
	out := make(map[string]Finding, len(o.marks))
	for path, m := range o.marks {
		out[path] = *m
	}
	o.rest("", o.root, out)
	for _, path := range slices.Sorted(maps.Keys(out)) {
		f := out[path]
		f.File, f.Object, f.Field = o.file, o.name, display(path)
		c := o.c
		if c.Report.Findings = append(c.Report.Findings, f); len(c.Report.Findings) > maxFindings {
			c.fail("the input has more than %d fields", maxFindings)
			return
		}
	}
}

// rest finds the leaves for which nothing speaks.
func (o *Object) rest(path string, v any, out map[string]Finding) {
	if _, marked := o.marks[path]; marked {
		return
	}
	switch t := v.(type) {
	case map[string]any:
		for k, v := range t {
			o.rest(below(path, k), v, out)
		}
		if len(t) > 0 {
			return
		}
	case []any:
		for i, v := range t {
			o.rest(below(path, "["+strconv.Itoa(i)+"]"), v, out)
		}
		if len(t) > 0 {
			return
		}
	}
	if empty(v) {
		out[path] = Finding{Fate: Taken, Code: Empty}
		return
	}
	out[path] = Finding{Fate: NoEqual, Code: UnknownField}
}

// empty reports whether a value says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// display writes a path for people: metadata.annotations["a.example/b"], spec.list[0].
func display(path string) string {
	var out strings.Builder
	for i, s := range strings.Split(path, separator) {
		switch {
		case s == "":
			if path != "" {
				out.WriteString(`[""]`)
			}
		case s[0] == '[' && strings.HasSuffix(s, "]") && strings.Trim(s[1:len(s)-1], "0123456789") == "":
			out.WriteString(s)
		case strings.ContainsAny(s, `.[]"' `):
			fmt.Fprintf(&out, "[%q]", s)
		default:
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(s)
		}
	}
	return out.String()
}
