package sim

import (
	"net/http"

	"rackboot/bmc/sim/tree"
)

func (o *override) routes(t *router) {
	t.add("GET", o.place.Settings, o.getSettings)
	t.add("PATCH", o.place.Settings, o.patchSettings)
	t.add("GET", o.place.OEMBoot, o.getOEM)
	t.add("PATCH", o.place.OEMBoot, o.patchOEM)
	o.order.routes(t)
}

// changeMain writes the system's own Boot object.
func (o *override) changeMain(boot any) *refusal {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.change(boot, o.mainWritable(), WriteMain)
}

func (o *override) getSettings(r *request) *answer {
	body := o.tree.Get(o.place.Settings)
	if body == nil {
		return missing()
	}
	if boot, ok := body["Boot"].(tree.Object); ok {
		o.mu.Lock()
		o.show(boot, o.boot.with(o.pending))
		o.mu.Unlock()
	}
	return o.tags.tagged(r, body)
}

func (o *override) patchSettings(r *request) *answer {
	if refused := o.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name := range body {
		if name != "Boot" {
			return refuse(propertyError("PropertyNotWritable", name))
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	boot, _ := tree.At(o.tree.Look(o.place.Settings), "Boot").(tree.Object)
	if refused := o.change(body["Boot"], o.writable(boot), WriteSettings); refused != nil {
		return refuse(refused)
	}
	return reply(http.StatusNoContent, nil)
}
