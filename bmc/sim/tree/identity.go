package tree

import (
	"maps"
	"strings"
)

// Identity is what a BMC says of the machine behind it, in place of what its tree has. An
// empty field leaves what the tree has.
type Identity struct {
	// MAC is of the machine's port. It stands wherever the tree has the address of the first
	// Ethernet interface of its first system: adapters and boot options name it as well.
	MAC  string
	UUID string // of the first system
}

// WithIdentity is the tree with the machine's identity. What says nothing of it is shared.
func (t *Tree) WithIdentity(id Identity) *Tree {
	l := t.Survey()
	if id == (Identity{}) || len(l.Systems) == 0 {
		return t
	}
	own := &Tree{bodies: maps.Clone(t.made())}
	system := t.Get(l.Systems[0].URI)
	if id.UUID != "" {
		system["UUID"] = id.UUID
	}
	own.bodies[Fold(l.Systems[0].URI)] = system
	ports := linksAt(t.Look(linkAt(system, "EthernetInterfaces")), "Members")
	if len(ports) == 0 || id.MAC == "" {
		return own
	}
	was := TextAt(t.Look(ports[0]), "MACAddress")
	if was == "" {
		return own
	}
	for uri, body := range own.bodies {
		if changed, is := replaced(body, spelled(was, id.MAC)); is {
			own.bodies[uri] = changed.(Object)
		}
	}
	return own
}

// spelled replaces an address by another in the forms that trees have: as it is, and in
// names and device paths without colons.
func spelled(was, now string) *strings.Replacer {
	var pairs []string
	for _, form := range []func(string) string{strings.ToLower, strings.ToUpper} {
		w, n := form(was), form(now)
		pairs = append(pairs, w, n, strings.ReplaceAll(w, ":", ""), strings.ReplaceAll(n, ":", ""))
	}
	return strings.NewReplacer(pairs...)
}

// replaced is a value with the replacements in all its strings, and whether there were any.
// The value itself is not changed.
func replaced(v any, r *strings.Replacer) (out any, is bool) {
	switch v := v.(type) {
	case string:
		s := r.Replace(v)
		return s, s != v
	case Object:
		var copied Object
		for k, e := range v {
			if n, is := replaced(e, r); is {
				if copied == nil {
					copied = maps.Clone(v)
				}
				copied[k] = n
			}
		}
		if copied != nil {
			return copied, true
		}
	case []any:
		var copied []any
		for i, e := range v {
			if n, is := replaced(e, r); is {
				if copied == nil {
					copied = append([]any(nil), v...)
				}
				copied[i] = n
			}
		}
		if copied != nil {
			return copied, true
		}
	}
	return v, false
}
