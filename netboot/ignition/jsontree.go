package ignition

import (
	"bytes"
	"encoding/json"
	"slices"
)

// tree is a JSON value as it was written: members keep their order, and numbers their
// digits.
type tree struct {
	kind kind
	keys []string // of an object
	kids []*tree  // members of an object or elements of a list
	text string   // of a string, decoded; of anything else that is no list and no object, as written
}

type kind byte

const (
	object kind = '{'
	list   kind = '['
	text   kind = '"'
	number kind = '0'
	truth  kind = 't'
	null   kind = 'n'
)

// maxDepth bounds how deep lists and objects lie in each other; specification 3 has 7.
const maxDepth = 64

func str(s string) *tree { return &tree{kind: text, text: s} }

func listOf(kids ...*tree) *tree { return &tree{kind: list, kids: kids} }

// members is an object of one member.
func members(key string, value *tree) *tree {
	return &tree{kind: object, keys: []string{key}, kids: []*tree{value}}
}

// get is the member below the keys; nil if it is not there.
func (t *tree) get(keys ...string) *tree {
	for _, key := range keys {
		if t == nil || t.kind != object {
			return nil
		}
		i := slices.Index(t.keys, key)
		if i < 0 {
			return nil
		}
		t = t.kids[i]
	}
	return t
}

// set puts a member below the keys, and makes the objects on the way. What is there and
// no object is replaced.
func (t *tree) set(value *tree, keys ...string) {
	for n, key := range keys {
		i := slices.Index(t.keys, key)
		if i < 0 {
			i = len(t.keys)
			t.keys, t.kids = append(t.keys, key), append(t.kids, &tree{kind: object})
		}
		if n == len(keys)-1 {
			t.kids[i] = value
			return
		}
		if t.kids[i].kind != object {
			t.kids[i] = &tree{kind: object}
		}
		t = t.kids[i]
	}
}

// drop removes a member.
func (t *tree) drop(key string) {
	if i := slices.Index(t.keys, key); i >= 0 {
		t.keys, t.kids = slices.Delete(t.keys, i, i+1), slices.Delete(t.kids, i, i+1)
	}
}

// prune removes members that are null, or have nothing in them. Elements of lists stay.
func (t *tree) prune() {
	for i, kid := range slices.Backward(t.kids) {
		kid.prune()
		empty := kid.kind == null || (kid.kind == object || kid.kind == list) && len(kid.kids) == 0
		if empty && t.kind == object {
			t.drop(t.keys[i])
		}
	}
}

// bytes writes the tree without spaces.
func (t *tree) bytes() []byte {
	var b bytes.Buffer
	t.write(&b)
	return b.Bytes()
}

func (t *tree) write(b *bytes.Buffer) {
	switch t.kind {
	case text:
		writeString(b, t.text)
	case object, list:
		b.WriteByte(byte(t.kind))
		for i, kid := range t.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			if t.kind == object {
				writeString(b, t.keys[i])
				b.WriteByte(':')
			}
			kid.write(b)
		}
		b.WriteByte(byte(t.kind) + 2) // ] and } are two after [ and {
	default:
		b.WriteString(t.text)
	}
}

func writeString(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings are always encoded
	b.Truncate(b.Len() - 1)
}
