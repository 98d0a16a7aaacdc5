package redfish

import (
	"fmt"

	"github.com/stmcginnis/gofish/schemas"
)

const (
	maxPages   = 8   // of a collection
	maxMembers = 512 // of a collection; boot options of a GH200: 30
)

// resource is any Redfish resource, for its links.
type resource struct {
	schemas.Entity

	systems string   // ServiceRoot.Systems
	members []string // of a collection
	next    string   // Members@odata.nextLink
}

// UnmarshalJSON decodes leniently.
func (r *resource) UnmarshalJSON(b []byte) error {
	f := fields(b)
	if f == nil {
		return errNoObject
	}
	*r = resource{systems: linkOf(f["Systems"]), next: textOf(f["Members@odata.nextLink"])}
	for _, raw := range rawsOf(f["Members"]) {
		if uri := linkOf(raw); uri != "" {
			r.members = append(r.members, uri)
		}
	}
	return nil
}

// members lists a collection, in the order of the service. A nextLink that loops
// ends at maxPages.
func members(c *call, uri string) ([]string, error) {
	var uris []string
	next := uri
	for range maxPages {
		if next == "" {
			break
		}
		page, err := get[resource](c, next)
		if err != nil {
			return nil, err
		}
		uris = append(uris, page.members...)
		next = page.next
	}
	if next != "" || len(uris) > maxMembers {
		return nil, c.link.report.unusable(c.op, fmt.Sprintf("the list %s does not end after %d members", uri, len(uris)))
	}
	return uris, nil
}
