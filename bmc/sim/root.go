package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// root is the service root, and what hangs on it and says little.
type root struct {
	tree       *tree.Tree
	tags       *tags
	manner     *manner
	collection string // of the systems
}

func (o *root) routes(t *router, managers []string) {
	t.add("GET", tree.RootURI, o.getRoot)
	t.add("GET", o.collection, o.getSystems)
	for _, uri := range managers {
		t.add("GET", uri, o.getManager)
	}
}

func (o *root) getRoot(r *request) *answer {
	body := o.tree.Get(r.uri)
	body["AccountService"] = tree.Link(uriAccountSv)
	if o.manner.now().Session.NoLink {
		delete(body, "Links")
	}
	return o.tags.tagged(r, body)
}

func (o *root) getSystems(r *request) *answer {
	body := o.tree.Get(r.uri)
	if o.manner.now().Wire.Loop && body != nil {
		body["Members@odata.nextLink"] = o.collection + "?$skip=1"
	}
	return o.tags.tagged(r, body)
}

func (o *root) getManager(r *request) *answer {
	body := o.tree.Get(r.uri)
	if _, ok := body["DateTime"]; ok {
		body["DateTime"] = time.Now().Add(o.manner.now().Report.Clock).UTC().Format(time.RFC3339)
	}
	return o.tags.tagged(r, body)
}
