package redfish

import (
	"context"
	"fmt"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"rackboot/protocol"
)

const (
	rootURI     = "/redfish/v1/" // DSP0266 fixes it
	maxPages    = 8              // of a collection
	maxMembers  = 512            // of a collection; boot options of a GH200: 30
	onlyOneHint = "set the server's system URI to one of them"
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

// find picks the only system that has a reset and a boot object, wherever it
// stands in the collection, and returns it as read.
func (d *driver) find(c *call) (*system, error) {
	found, err := d.hosts(c)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range found {
		names = append(names, s.ODataID)
	}
	switch len(found) {
	case 1:
		d.logger.Info("system found", "uri", names[0])
		return found[0], nil
	default:
		return nil, protocol.Errorf(protocol.CodeInvalid, c.op, "BMC %s has %d systems: %s", d.link.base, len(found), strings.Join(names, ", ")).
			WithHint(onlyOneHint)
	}
}

// hosts reads the systems that have a reset and a boot object; there is at least one.
func (d *driver) hosts(c *call) ([]*system, error) {
	uris, err := d.systems(c)
	if err != nil {
		return nil, err
	}
	var found []*system
	for _, uri := range uris {
		s, err := get[system](c, uri)
		if err != nil {
			return nil, err
		}
		if s.located(uri); s.bootable() {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s lists %d systems, none with a reset and boot settings", d.link.base, len(uris)).
			WithHint("set the server's system URI, or update the BMC's firmware")
	}
	return found, nil
}

// Systems lists the hosts behind the BMC, beside power control as an inventory.
func (d *driver) Systems(ctx context.Context) ([]string, error) {
	c := d.call(ctx, opInventory)
	c.slow = true
	found, err := d.hosts(c)
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, s := range found {
		uris = append(uris, s.ODataID)
	}
	return uris, nil
}

// systems lists the members of the systems collection.
func (d *driver) systems(c *call) ([]string, error) {
	root, err := get[resource](c, rootURI)
	if err != nil {
		return nil, err
	}
	if root.systems == "" {
		return nil, nil
	}
	return members(c, root.systems)
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
		return nil, c.link.unusable(c.op, fmt.Sprintf("the list %s does not end after %d members", uri, len(uris)))
	}
	return uris, nil
}

// get reads one object. gofish returns decoding errors as they are; here they
// become an unusable answer.
func get[T any, PT schemas.GenericSchemaObjectPointer[T]](c *call, uri string) (*T, error) {
	v, err := schemas.GetObject[T, PT](c, uri)
	if err == nil {
		return v, nil
	}
	if protocol.CodeOf(err) != protocol.CodeInternal {
		return nil, err
	}
	return nil, c.link.cut(c.op, printable(err.Error()))
}
