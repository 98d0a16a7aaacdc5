package sim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"rackboot/bmc/sim/tree"
)

// bios is the BIOS settings of a system, and its Secure Boot. Its methods are safe for
// concurrent use.
type bios struct {
	place  tree.Place
	tree   *tree.Tree
	manner *manner
	tags   *tags
	jobs   *jobs
	supply *supply

	mu         sync.Mutex
	attributes tree.Object // that differ from the tree
	waiting    tree.Object // attributes for the next reset
	secure     tree.Object // SecureBoot values for the next reset
	secureNow  tree.Object
}

func (b *bios) routes(t *router) {
	t.add("GET", b.place.BIOS, b.get)
	t.add("GET", b.place.BIOSSettings, b.getSettings)
	t.add("PATCH", b.place.BIOSSettings, b.patchSettings)
	t.add("GET", b.place.SecureBoot, b.getSecureBoot)
	t.add("PATCH", b.place.SecureBoot, b.patchSecureBoot)
}

// begin puts into force what waits for a reset.
func (b *bios) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.manner.now().BIOS.Deaf {
		maps.Copy(b.attributes, b.waiting)
	}
	clear(b.waiting)
	maps.Copy(b.secureNow, b.secure)
	clear(b.secure)
}

// set puts values into force, as somebody does in the firmware's menus.
func (b *bios) set(attributes tree.Object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.attributes, attributes)
}

// fits says whether all attributes have the values.
func (b *bios) fits(want []Attribute) bool {
	return !slices.ContainsFunc(want, func(a Attribute) bool { return b.attribute(a.Name) != a.Value })
}

// commit is a request for a job that makes the waiting settings count.
func (b *bios) commit(*request) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.jobs.waits(b.place.URI):
		return refuse(&refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.RAC0679", text: "the configuration is already committed"})
	case len(b.waiting) == 0:
		return refuse(&refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS405", text: "nothing waits"})
	default:
		a := reply(http.StatusAccepted, nil)
		a.header.Set("Location", b.jobs.add(b.place.URI, "BIOS configuration").uri)
		return a
	}
}

// attribute is a BIOS attribute that is in force; empty if there is none, or no
// string.
func (b *bios) attribute(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.value(name)
}

// value is attribute while b.mu is held.
func (b *bios) value(name string) string {
	if value, ok := b.attributes[name]; ok {
		s, _ := value.(string)
		return s
	}
	return tree.TextAt(b.tree.Look(b.place.BIOS), "Attributes", name)
}

func (b *bios) get(r *request) *answer {
	body := b.tree.Get(b.place.BIOS)
	if body == nil {
		return missing()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tags.tagged(r, tree.Merge(body, tree.Object{"Attributes": tree.Clone(b.attributes)}).(tree.Object))
}

// getSettings shows the attributes that wait for a reset.
func (b *bios) getSettings(r *request) *answer {
	body := b.tree.Get(b.place.BIOSSettings)
	if body == nil {
		body = tree.Object{"@odata.id": b.place.BIOSSettings, "@odata.type": "#Bios.v1_2_0.Bios", "Id": "Settings", "Name": "BIOS settings"}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	body["Attributes"] = tree.Clone(b.waiting)
	return b.tags.tagged(r, body)
}

func (b *bios) patchSettings(r *request) *answer {
	rules := b.manner.now().BIOS
	if refused := b.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	change, ok := body["Attributes"].(tree.Object)
	if !ok {
		return refuse(propertyError("PropertyValueTypeError", "Attributes"))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused := b.judge(change); refused != nil {
		return refuse(refused)
	}
	maps.Copy(b.waiting, change)
	b.tags.touch(b.place.BIOSSettings)
	a := reply(http.StatusOK, tree.Object{})
	if tree.At(body, "@Redfish.SettingsApplyTime", "ApplyTime") == "OnReset" && rules.OwnJob {
		a.status = http.StatusAccepted
		a.header.Set("Location", b.jobs.add(b.place.URI, "BIOS configuration").uri)
	}
	return a
}

// judge refuses a change. b.mu is held.
func (b *bios) judge(change tree.Object) *refusal {
	rules := b.manner.now().BIOS
	if refused := b.supply.busy(); refused != nil {
		return refused
	}
	switch {
	case rules.Conflict && len(b.secure) > 0:
		return &refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS011", text: "a change of this configuration waits already"}
	case rules.OwnJob && b.jobs.waits(b.place.URI):
		return &refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS011", text: "the configuration is already committed"}
	}
	known := b.tree.Look(b.place.BIOS)
	for name := range change {
		if tree.At(known, "Attributes", name) == nil {
			return propertyError("PropertyUnknown", name)
		}
		for _, part := range rules.NeedParts {
			need, value, _ := strings.Cut(part.Value, "=")
			if strings.HasPrefix(name, part.Name) && name != need && b.value(need) != value && change[need] != value {
				return propertyError("PropertyNotWritable", name)
			}
		}
	}
	return nil
}

func (b *bios) getSecureBoot(r *request) *answer {
	body := b.tree.Get(b.place.SecureBoot)
	if body == nil {
		return missing()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tags.tagged(r, tree.Merge(body, tree.Clone(b.secureNow)).(tree.Object))
}

// patchSecureBoot takes SecureBootEnable for the next reset.
func (b *bios) patchSecureBoot(r *request) *answer {
	if refused := b.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name, value := range body {
		if _, ok := value.(bool); !ok || name != "SecureBootEnable" {
			return refuse(propertyError("PropertyNotWritable", name))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tree.Merge(b.secure, body)
	b.tags.touch(b.place.SecureBoot)
	return reply(http.StatusNoContent, nil)
}
