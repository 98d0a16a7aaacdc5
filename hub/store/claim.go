package store

import "rackboot/protocol/resource"

// Claims are what people want servers for.
type Claims struct {
	core    *core
	objects *Objects
	holds   *Holds
}

// Of is the claim that has the server, or nil. A claim that names a server
// but was not bound to it yet does not have it.
func (cs *Claims) Of(server string) *resource.Claim {
	for _, c := range Find(cs.objects, ClaimsByServer, server) {
		return Copy(cs.objects, c)
	}
	return nil
}
