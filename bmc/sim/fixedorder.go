package sim

import (
	"net/http"
	"sync"

	"rackboot/bmc/sim/tree"
)

// fixedOrder is a vendor's own boot order of a system. Its methods are safe for
// concurrent use.
type fixedOrder struct {
	uri  string // empty for none
	tree *tree.Tree
	tags *tags

	mu      sync.Mutex
	written tree.Object
}

func (f *fixedOrder) routes(t *router) {
	t.add("GET", f.uri, f.get)
	t.add("PATCH", f.uri, f.patch)
}

// now is the order as it is now.
func (f *fixedOrder) now() tree.Object {
	body := f.tree.Get(f.uri)
	if body == nil {
		return tree.Object{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return tree.Merge(body, tree.Clone(f.written)).(tree.Object)
}

// disableDisk takes the disk out.
func (f *fixedOrder) disableDisk() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written["UEFIHardDisk"] = "Disabled"
}

func (f *fixedOrder) get(r *request) *answer { return f.tags.tagged(r, f.now()) }

func (f *fixedOrder) patch(r *request) *answer {
	if refused := f.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name := range body {
		if _, ok := f.tree.Look(f.uri)[name]; !ok {
			return refuse(propertyError("PropertyUnknown", name))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	tree.Merge(f.written, tree.Clone(body))
	f.tags.touch(f.uri)
	return reply(http.StatusNoContent, nil)
}
