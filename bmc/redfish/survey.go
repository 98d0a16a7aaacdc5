package redfish

import (
	"context"
	"encoding/json"
	"slices"

	"rackboot/protocol"
)

const (
	opInventory = "bmc.inventory"
	opProbe     = "bmc.probe"
	// maxProblems bounds a report about a BMC on which nothing can be read.
	maxProblems = 32
)

// survey reads the parts of a server, each with its own error.
type survey struct {
	driver *driver
	c      *call
	system *system
	out    protocol.Inventory

	bios     *object // nil if there is none
	biosAt   string  // where BIOS attributes are written
	managed  []*object
	hasAsked bool // for the managers
}

// survey begins with the system, without which there is nothing to say.
func (d *driver) survey(ctx context.Context, op string) (*survey, error) {
	c := d.call(ctx, op)
	c.slow = true
	s, err := d.read(c)
	if err != nil {
		return nil, err
	}
	return &survey{driver: d, c: c, system: s}, nil
}

// Inventory reads all parts of the system, one request at a time, beside power
// control and not before it.
func (d *driver) Inventory(ctx context.Context) (protocol.Inventory, error) {
	v, err := d.survey(ctx, opInventory)
	if err != nil {
		return protocol.Inventory{}, err
	}
	v.inventory()
	return v.out, nil
}

func (v *survey) inventory() {
	v.identity()
	v.readBIOS()
	v.bootOptions()
	v.interfaces()
	v.secureBoot()
	v.restore()
	v.out.SafeStop = safeStop(v.out, v.attributes())
	if v.bios == nil && linkOf(v.system.f["Bios"]) != "" && v.out.SafeStop.Class == protocol.SafeStopNone {
		v.out.SafeStop.Reason += "; the BIOS attributes, one of which may bring it, cannot be read"
	}
	v.detection()
	v.media()
}

// problem notes that a part could not be read.
func (v *survey) problem(part string, err error) {
	p := protocol.PartProblem{Part: part, Code: protocol.CodeOf(err), Text: err.Error()}
	if len(v.out.Problems) < maxProblems && !slices.Contains(v.out.Problems, p) {
		v.out.Problems = append(v.out.Problems, p)
	}
}

// get reads one resource of a part; nil if there is none or it fails.
func (v *survey) get(part, uri string) *object {
	if uri == "" {
		return nil
	}
	o, err := get[object](v.c, uri)
	if err != nil {
		v.problem(part, err)
		return nil
	}
	o.ODataID = uri
	return o
}

// each reads the members of a collection that a resource links to. Members that
// are embedded whole are read all the same: some are stubs.
func (v *survey) each(part string, link json.RawMessage, do func(*object)) {
	uri := linkOf(link)
	if uri == "" {
		return
	}
	uris, err := members(v.c, uri)
	if err != nil {
		v.problem(part, err)
		return
	}
	for _, uri := range uris {
		if o := v.get(part, uri); o != nil {
			do(o)
		}
	}
}

// managers are the BMCs of this system: those that it names, else those that
// name it, else those that name none (DGX).
func (v *survey) managers() []*object {
	if v.hasAsked {
		return v.managed
	}
	v.hasAsked = true
	for _, m := range rawsOf(fields(v.system.f["Links"])["ManagedBy"]) {
		if o := v.get("Managers", linkOf(m)); o != nil {
			v.managed = append(v.managed, o)
		}
	}
	if len(v.managed) > 0 {
		return v.managed
	}
	root := v.get("Managers", rootURI)
	if root == nil {
		return nil
	}
	var all []*object
	v.each("Managers", root.f["Managers"], func(o *object) { all = append(all, o) })
	for _, o := range all {
		for _, s := range rawsOf(fields(o.f["Links"])["ManagerForServers"]) {
			if sameURI(linkOf(s), v.system.ODataID) {
				v.managed = append(v.managed, o)
			}
		}
	}
	if len(v.managed) > 0 {
		return v.managed
	}
	for _, o := range all {
		if len(rawsOf(fields(o.f["Links"])["ManagerForServers"])) == 0 {
			v.managed = append(v.managed, o)
		}
	}
	return v.managed
}
