package watch

import (
	"sync"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// news gathers what was heard and written, by server and rack. Its zero value is empty. It is bounded by the servers
// and racks that there are, and safe for concurrent use; nobody who tells waits for more than a map.
type news struct {
	mu  sync.Mutex
	now heard
}

// heard is what was gathered.
type heard struct {
	reported        map[string]bool // servers; what was said of them shows in the status alone
	reportedOfRacks map[string]bool // what is of no single server: agents, BMCs
	servers         map[string]bool // that were written
	whole           map[string]bool // racks of which all is concerned
}

func (n *news) told(rack, server string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	mark(&n.now.reported, server)
	mark(&n.now.reportedOfRacks, rack)
}

// written notes what follows from a write, besides the resource itself. What else may follow is found in the next
// round.
func (n *news) written(d store.Delta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, obj := range []resource.Object{d.Old, d.Now} {
		if obj == nil {
			continue
		}
		mark(&n.now.servers, serverOf(obj))
		switch o := obj.(type) {
		case *resource.Rack:
			mark(&n.now.whole, o.Metadata.Name)
		case *resource.Segment:
			mark(&n.now.whole, o.Spec.RackRef.Name)
		case *resource.BMC:
			mark(&n.now.whole, o.Spec.RackRef.Name)
		case *resource.Agent:
			mark(&n.now.whole, o.Spec.RackRef.Name)
		}
	}
}

func mark(set *map[string]bool, name string) {
	if name == "" {
		return
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

// take returns what was gathered since the last take.
func (n *news) take() heard {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.now
	n.now = heard{}
	return out
}

func (h heard) empty() bool {
	return len(h.reported)+len(h.reportedOfRacks)+len(h.servers)+len(h.whole) == 0
}

// concerns reports whether what is shown of a resource, with its status or without, may follow from what was heard.
func (h heard) concerns(e *entry, status bool) bool {
	if h.servers[e.server] || h.whole[e.rack] {
		return true
	}
	return status && (h.reported[e.server] || e.server == "" && h.reportedOfRacks[e.rack])
}
