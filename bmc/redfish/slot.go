package redfish

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"rackboot/protocol"
)

// slot is a virtual media slot.
type slot struct {
	uri      string
	tag      string
	insert   string   // target of InsertMedia; empty: PATCH (Lenovo)
	eject    string   // target of EjectMedia; empty: PATCH
	types    []string // MediaTypes
	image    string
	inserted bool
	by       string // ConnectedVia
}

func decodeSlot(uri string, o *object) slot {
	actions := fields(o.f["Actions"])
	return slot{
		uri: uri, tag: o.tag(),
		insert:   textOf(fields(actions["#VirtualMedia.InsertMedia"])["target"]),
		eject:    textOf(fields(actions["#VirtualMedia.EjectMedia"])["target"]),
		types:    textsOf[string](o.f["MediaTypes"]),
		image:    o.text("Image"),
		inserted: string(o.f["Inserted"]) == "true",
		by:       o.text("ConnectedVia"),
	}
}

// takesCD: a DVD slot takes a CD image.
func (s slot) takesCD() bool {
	return len(s.types) == 0 || slices.ContainsFunc(s.types, func(t string) bool { return t == "CD" || t == "DVD" })
}

// takesStick: HPE's first slot is no CD drive; a system that runs reads the config image
// from it all the same (metal-operator #690).
func (s slot) takesStick() bool { return slices.Contains(s.types, "USBStick") }

func (s slot) full() bool { return s.inserted || s.image != "" }

// connectedByApplet is Redfish ConnectedVia of what a person has mounted from a console.
const connectedByApplet = "Applet"

// ours reports whether the slot holds an image of ours. Some BMCs show its name only.
func (s slot) ours(own string) bool {
	if !strings.Contains(s.image, "://") {
		return slices.Contains([]string{protocol.FileISO, protocol.FileConfigISO}, path.Base(s.image))
	}
	return own != "" && strings.HasPrefix(s.image, own)
}

// foreign reports whether somebody else's medium is in the slot. Inserted alone means nothing:
// it may stay true after an eject (sushy).
func (s slot) foreign(own string) bool {
	return s.image != "" && !s.ours(own) || s.inserted && s.by == connectedByApplet
}

// drives are the slots of a BMC: boot for CD images, those with the action first, and
// other for USB sticks.
type drives struct{ boot, other []slot }

func (d drives) all() []slot { return slices.Concat(d.boot, d.other) }

// drivesOf reads the slots: those of the system (iDRAC 10 has no others, bmclib #433), else
// those of its managers.
func drivesOf(v *survey) (out drives) {
	add := func(o *object) {
		switch s := decodeSlot(o.ODataID, o); {
		case s.takesCD():
			out.boot = append(out.boot, s)
		case s.takesStick():
			out.other = append(out.other, s)
		}
	}
	v.each("VirtualMedia", v.system.f["VirtualMedia"], add)
	if len(out.boot) == 0 {
		out.other = nil
		for _, m := range v.managers() {
			v.each("VirtualMedia", m.f["VirtualMedia"], add)
		}
	}
	slices.SortStableFunc(out.boot, func(a, b slot) int {
		switch {
		case (a.insert == "") == (b.insert == ""):
			return 0
		case a.insert == "":
			return 1
		}
		return -1
	})
	return out
}

// countDrives counts the drives for the inventory; it is nil where one cannot be read.
func countDrives(v *survey) *protocol.MediaDrives {
	problems := len(v.problems)
	d := drivesOf(v)
	if len(v.problems) > problems {
		return nil
	}
	return &protocol.MediaDrives{Boot: len(d.boot), Other: len(d.other)}
}

func mediaReport(v *survey) protocol.MediaSlot {
	slots := drivesOf(v).boot
	if len(slots) == 0 {
		return protocol.MediaSlot{Why: "there is no virtual media slot for CD images"}
	}
	r := protocol.MediaSlot{Supported: true, Slot: slots[0].uri, Method: "InsertMedia", Inserted: slots[0].full()}
	if slots[0].insert == "" {
		r.Method, r.Why = http.MethodPatch, "the slot has no InsertMedia action; its properties are written"
	}
	return r
}
