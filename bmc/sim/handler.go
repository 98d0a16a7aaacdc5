package sim

import (
	"net/http"
	"strings"

	"rackboot/bmc/sim/tree"
)

// handle answers one kind of request.
type handle func(*request) *answer

// handleMember answers for what was made at run time, by the last part of its URI; nil
// if there is no such thing.
type handleMember func(r *request, method, id string) *answer

// router finds who answers a request; what nobody answers is as the tree has it.
type router struct {
	tree    *tree.Tree
	tags    *tags
	routes  map[string]handle       // by method and folded URI
	members map[string]handleMember // by folded URI of the collection
}

func newRouter(t *tree.Tree, g *tags) *router {
	return &router{tree: t, tags: g, routes: make(map[string]handle), members: make(map[string]handleMember)}
}

// add takes a method of a resource; an empty URI is of none.
func (t *router) add(method, uri string, h handle) {
	if uri != "" {
		t.routes[method+" "+tree.Fold(uri)] = h
	}
}

// addMembers takes what a collection gets at run time.
func (t *router) addMembers(uri string, h handleMember) {
	if uri != "" {
		t.members[tree.Fold(uri)] = h
	}
}

// handle answers a request that is allowed.
func (t *router) handle(r *request) *answer {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if do, ok := t.routes[method+" "+r.uri]; ok {
		return do(r)
	}
	if a := t.member(r, method); a != nil {
		return a
	}
	if body := t.tree.Get(r.uri); body != nil {
		if method != http.MethodGet {
			return refuse(&refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.OperationNotAllowed", text: "this resource is read only"})
		}
		return t.tags.tagged(r, body)
	}
	return missing()
}

func (t *router) member(r *request, method string) *answer {
	cut := strings.LastIndexByte(r.uri, '/')
	if cut < 0 {
		return nil
	}
	if do, ok := t.members[r.uri[:cut]]; ok {
		return do(r, method, r.uri[cut+1:])
	}
	return nil
}
