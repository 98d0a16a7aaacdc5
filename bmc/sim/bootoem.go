package sim

import (
	"net/http"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// getOEM is Fujitsu's BootConfig: an override by BootDevice and
// NextBootOnlyEnabled.
func (o *override) getOEM(r *request) *answer {
	body := o.tree.Get(o.place.OEMBoot)
	v := o.now()
	body["BootDevice"] = v.Target
	body["NextBootOnlyEnabled"] = v.Enabled == protocol.OverrideOnce
	return o.tags.tagged(r, body)
}

func (o *override) patchOEM(r *request) *answer {
	if refused := o.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	boot := tree.Object{}
	for name, value := range body {
		switch name {
		case "BootDevice":
			boot[tree.BootTarget] = value
		case "NextBootOnlyEnabled":
			once, ok := value.(bool)
			if !ok {
				return refuse(propertyError("PropertyValueTypeError", name))
			}
			boot[tree.BootEnabled] = string(protocol.OverrideContinuous)
			if once {
				boot[tree.BootEnabled] = string(protocol.OverrideOnce)
			}
		default:
			return refuse(propertyError("PropertyUnknown", name))
		}
	}
	if boot[tree.BootTarget] == string(protocol.TargetNone) {
		boot[tree.BootEnabled] = string(protocol.OverrideDisabled)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if refused := o.change(boot, []string{tree.BootTarget, tree.BootEnabled}, WriteOEM); refused != nil {
		return refuse(refused)
	}
	o.tags.touch(o.place.OEMBoot)
	return reply(http.StatusNoContent, nil)
}
