package selector

import (
	"reflect"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Only is which fields of resources somebody wants. The zero Only is all of them.
type Only struct{ root *part }

// part is what is wanted of a value; nil is all of it.
type part struct{ fields map[string]*part }

// always are the fields that are wanted whatever is asked for: without them nobody could say what it is.
var always = []string{"apiVersion", "kind", "metadata.name"}

// ParseOnly reads paths of fields, joined by commas, such as metadata.labels,status.phase. A field is there with
// all that is in it, and a path through a list goes on in each of its elements. A path that a resource of the kind cannot
// have is an error. Errors are invalid.
func ParseOnly(s string, kind resource.Kind) (out Only, err error) {
	for i, path := range append(parts(s), always...) {
		if i == 0 && path == always[0] {
			return Only{}, nil // nothing was asked for
		}
		names := strings.Split(path, ".")
		if _, missing := walk(reflect.TypeOf(resource.NewObject(kind)), names); missing != "" || slices.Contains(names, "") {
			return Only{}, protocol.Errorf(protocol.CodeInvalid, "", "%s has no field %q", kind, path).
				WithHint("rackctl explain %s shows what there is", strings.ToLower(string(kind)))
		}
		if out.root == nil {
			out.root = &part{map[string]*part{}}
		}
		out.root.want(names)
	}
	return out, nil
}

// want adds a path. What is wanted whole stays so.
func (p *part) want(path []string) {
	next, there := p.fields[path[0]]
	switch {
	case there && next == nil:
	case len(path) == 1:
		p.fields[path[0]] = nil
	default:
		if next == nil {
			next = &part{map[string]*part{}}
			p.fields[path[0]] = next
		}
		next.want(path[1:])
	}
}

// All reports whether everything is wanted.
func (o Only) All() bool { return o.root == nil }

// Wants reports whether something is wanted of the field at a path, such as status or metadata.annotations.
func (o Only) Wants(path string) bool {
	p := o.root
	for name := range strings.SplitSeq(path, ".") {
		if p == nil {
			return true
		}
		next, wanted := p.fields[name]
		if !wanted {
			return false
		}
		p = next
	}
	return true
}

// With is o with more paths, which resources have.
func (o Only) With(paths ...string) Only {
	if o.root == nil || len(paths) == 0 {
		return o
	}
	out := Only{&part{map[string]*part{}}}
	for _, path := range append(o.paths(), paths...) {
		out.root.want(strings.Split(path, "."))
	}
	return out
}

// String is the same for all Only that want the same; empty for all.
func (o Only) String() string { return strings.Join(o.paths(), ",") }

// paths are the paths of what is wanted whole, sorted.
func (o Only) paths() (out []string) {
	if o.root != nil {
		out = o.root.paths("")
		slices.Sort(out)
	}
	return out
}

func (p *part) paths(before string) (out []string) {
	for name, next := range p.fields {
		if next == nil {
			out = append(out, before+name)
		} else {
			out = append(out, next.paths(before+name+".")...)
		}
	}
	return out
}

// Of returns what is wanted of a value in JSON, as encoding/json writes it: without spaces between. The error is of a
// value that is none.
func (o Only) Of(raw []byte) ([]byte, error) {
	if o.root == nil {
		return raw, nil
	}
	c := cutter{in: raw, out: make([]byte, 0, len(raw)/4)}
	if c.value(o.root); c.wrong || c.at != len(raw) {
		return nil, protocol.Errorf(protocol.CodeInternal, "select fields", "at byte %d of %d it is no JSON", c.at, len(raw))
	}
	return c.out, nil
}

// cutter copies what is wanted of a text.
type cutter struct {
	in, out []byte
	at      int
	wrong   bool
}

// next reports whether the next byte is b, and is behind it then.
func (c *cutter) next(b byte) bool {
	if c.wrong || c.at >= len(c.in) || c.in[c.at] != b {
		return false
	}
	c.at++
	return true
}

// value copies what is wanted of the next value.
func (c *cutter) value(want *part) {
	switch {
	case want == nil:
		begin := c.at
		c.skip()
		c.out = append(c.out, c.in[begin:c.at]...)
	case c.next('{'):
		c.object(want)
	case c.next('['):
		c.list(want)
	default: // a value that has no fields, such as null
		c.value(nil)
	}
}

// object is behind the brace.
func (c *cutter) object(want *part) {
	c.out = append(c.out, '{')
	for first, empty := true, true; !c.next('}'); first = false {
		c.wrong = c.wrong || !first && !c.next(',')
		begin := c.at
		c.text()
		if c.wrong = c.wrong || !c.next(':'); c.wrong {
			return
		}
		key := c.in[begin : c.at-1]
		of, wanted := want.fields[string(key[1:len(key)-1])] // the name of a field has nothing that is escaped
		if !wanted {
			c.skip()
			continue
		}
		if !empty {
			c.out = append(c.out, ',')
		}
		empty = false
		c.out = append(append(c.out, key...), ':')
		c.value(of)
	}
	c.out = append(c.out, '}')
}

// list is behind the bracket.
func (c *cutter) list(want *part) {
	c.out = append(c.out, '[')
	for first := true; !c.next(']'); first = false {
		if !first {
			c.wrong = c.wrong || !c.next(',')
			c.out = append(c.out, ',')
		}
		if c.value(want); c.wrong {
			return
		}
	}
	c.out = append(c.out, ']')
}

// skip goes behind the next value.
func (c *cutter) skip() {
	for depth := 0; !c.wrong && c.at < len(c.in); {
		switch c.in[c.at] {
		case '{', '[':
			depth++
			c.at++
			continue
		case ',', ':':
			c.at++
			continue
		case '}', ']':
			depth--
			c.at++
		case '"':
			c.text()
		default:
			c.word()
		}
		if depth <= 0 {
			return
		}
	}
	c.wrong = true
}

// text goes behind the next string.
func (c *cutter) text() {
	if !c.next('"') {
		c.wrong = true
		return
	}
	for ; c.at < len(c.in); c.at++ {
		switch c.in[c.at] {
		case '\\':
			c.at++
		case '"':
			c.at++
			return
		}
	}
	c.wrong = true
}

// word goes behind the next number, true, false or null.
func (c *cutter) word() {
	begin := c.at
	for c.at < len(c.in) && !slices.Contains([]byte(`,:{}[]"`), c.in[c.at]) {
		c.at++
	}
	c.wrong = c.wrong || c.at == begin
}
