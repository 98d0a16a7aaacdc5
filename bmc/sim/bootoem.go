package sim

import (
	"net/http"

	"rackboot/protocol"
)

// getOEMBoot is Fujitsu's BootConfig: an override by BootDevice and
// NextBootOnlyEnabled.
func (h *Host) getOEMBoot(r *request) *answer {
	body := h.bmc.tree.get(h.place.oemBoot)
	o := h.boot.override()
	body["BootDevice"] = o.Target
	body["NextBootOnlyEnabled"] = o.Enabled == protocol.OverrideOnce
	return h.bmc.tagged(r, body)
}

func (h *Host) patchOEMBoot(r *request) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	boot := object{}
	for name, value := range body {
		switch name {
		case "BootDevice":
			boot[bootTarget] = value
		case "NextBootOnlyEnabled":
			once, ok := value.(bool)
			if !ok {
				return refuse(propertyError("PropertyValueTypeError", name))
			}
			boot[bootEnabled] = string(protocol.OverrideContinuous)
			if once {
				boot[bootEnabled] = string(protocol.OverrideOnce)
			}
		default:
			return refuse(propertyError("PropertyUnknown", name))
		}
	}
	if boot[bootTarget] == string(protocol.TargetNone) {
		boot[bootEnabled] = string(protocol.OverrideDisabled)
	}
	if refused := h.changeBoot(boot, []string{bootTarget, bootEnabled}, WriteOEM); refused != nil {
		return refuse(refused)
	}
	h.bmc.touch(h.place.oemBoot)
	return reply(http.StatusNoContent, nil)
}

// fixedOrder is the vendor's own boot order as it is now.
func (h *Host) fixedOrder() object {
	body := h.bmc.tree.get(h.place.fixedOrder)
	if body == nil {
		return object{}
	}
	return merge(body, clone(h.order)).(object)
}

func (h *Host) getFixedOrder(r *request) *answer { return h.bmc.tagged(r, h.fixedOrder()) }

func (h *Host) patchFixedOrder(r *request) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name := range body {
		if _, ok := h.bmc.tree.look(h.place.fixedOrder)[name]; !ok {
			return refuse(propertyError("PropertyUnknown", name))
		}
	}
	merge(h.order, clone(body))
	h.bmc.touch(h.place.fixedOrder)
	return reply(http.StatusNoContent, nil)
}
