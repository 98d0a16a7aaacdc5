package gate

import (
	"crypto/x509"
	"maps"
	"slices"
	"strings"

	"rackboot/hub/access"
)

// Change is how callers differ from those before, by their names, sorted.
type Change struct {
	Added, Removed []string
	// Changed have another token, certificate, scope, other roles, or another right to break glass.
	Changed []string
	// Authorities reports whether the authorities of clients are others.
	Authorities bool
	// Cut is how many requests were cut off that took long, and whose callers may no longer send them.
	Cut int
}

// None reports whether nothing differs.
func (c Change) None() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 && !c.Authorities
}

// String is such as "added a, b; removed c; changed d; other authorities", or "no client differs".
func (c Change) String() string {
	var parts []string
	for _, p := range []struct {
		word  string
		names []string
	}{{"added ", c.Added}, {"removed ", c.Removed}, {"changed ", c.Changed}} {
		if len(p.names) > 0 {
			parts = append(parts, p.word+strings.Join(p.names, ", "))
		}
	}
	if c.Authorities {
		parts = append(parts, "other authorities")
	}
	if len(parts) == 0 {
		return "no client differs"
	}
	return strings.Join(parts, "; ")
}

// Callers are those who may use the API besides the admin.
type Callers struct {
	Clients []Client
	// Authorities are those whose certificates are those of clients alone. Of another one that TLS accepts, such as
	// the hub's, a certificate needs [access.ClientUnit].
	Authorities []*x509.Certificate
	// People knows persons; nil knows none.
	People People
}

// Replace puts other callers in place of those of now; the admin stays.
// A request is judged by those of before or by the new ones, never by a mix. One that has begun is
// answered within 20 s by what its caller might do; one that may take longer is cut off if its caller
// is gone or may do less. The error, invalid, says which clients cannot be told apart; then nothing
// has changed. It is safe for concurrent use.
func (g *Gate) Replace(next Callers) (Change, error) {
	g.replacing.Lock()
	defer g.replacing.Unlock()
	was := g.callers.Load()
	is, err := newCallers(was.known[0], next, was.authorities.Replaced(next.Authorities))
	if err != nil {
		return Change{}, err
	}
	c := differ(was, is)
	g.callers.Store(is)
	names := map[string]bool{}
	for _, k := range is.known {
		names[k.Name] = true
	}
	g.limits.keep(names)
	c.Cut = g.flights.check(is)
	return c, nil
}

// differ compares callers.
func differ(was, is *callers) (c Change) {
	byName := func(list []known) map[string]known {
		out := map[string]known{}
		for _, k := range list {
			out[k.Name] = k
		}
		return out
	}
	old, next := byName(was.known), byName(is.known)
	for name, k := range next {
		switch o, ok := old[name]; {
		case !ok:
			c.Added = append(c.Added, name)
		case !k.equal(o):
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range old {
		if _, ok := next[name]; !ok {
			c.Removed = append(c.Removed, name)
		}
	}
	for _, list := range [][]string{c.Added, c.Removed, c.Changed} {
		slices.Sort(list)
	}
	c.Authorities = !slices.EqualFunc(was.authorities.Now, is.authorities.Now, (*x509.Certificate).Equal)
	return c
}

// equal reports whether nothing of a caller differs.
func (k known) equal(o known) bool {
	roles := func(list []access.Role) []access.Role { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return k.Name == o.Name && k.byToken == o.byToken && k.token == o.token && k.commonName == o.commonName && k.BreakGlass == o.BreakGlass &&
		maps.Equal(k.Scope.MatchLabels, o.Scope.MatchLabels) && slices.Equal(roles(k.Roles), roles(o.Roles))
}
