package revisions

import (
	"sync"

	"rackboot/protocol/resource"
)

// places are the claims that have their place in the roll-outs of their groups: the site's last turn has
// seen them there, as canaries or not. They are made anew by each turn of the site, so that after a start
// nobody has one before the first.
type places struct {
	mu sync.Mutex
	by map[string]dealt // by UID of the group
}

type dealt struct {
	revision int
	claims   map[string]string // the server of each, by UID
}

// Dealt notes that the site's turn has given each of a group's claims its place in the roll-out of the
// current revision, or has found that there is none to be given: claims are their servers, by UID. It
// answers with the servers of those that had none before. It is safe for concurrent use.
func (c *Room) Dealt(g *resource.ServerGroup, claims map[string]string) (fresh []string) {
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	was := c.places.by[g.Metadata.UID]
	c.places.by[g.Metadata.UID] = dealt{g.Status.Revision, claims}
	for uid, server := range claims {
		if was.revision != g.Status.Revision || was.claims[uid] != server {
			fresh = append(fresh, server)
		}
	}
	return fresh
}

// placed reports whether a claim has its place. One without it is given nothing older than the current
// revision: it may be the one that is to try that.
func (p *places) placed(g *resource.ServerGroup, cl *resource.Claim) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.by[g.Metadata.UID]
	return d.revision == g.Status.Revision && d.claims[cl.Metadata.UID] == cl.Status.Server
}

// forget drops what is kept of groups that are gone.
func (p *places) forget(there map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uid := range p.by {
		if !there[uid] {
			delete(p.by, uid)
		}
	}
}
