package images

import (
	"rackboot/hub/plan"
	"rackboot/protocol/resource"
)

// Seen is what is known of an image, with the kernel arguments of server and owner.
func (r *Room) Seen(unit string, q Question, server, owner string) plan.BootSeen {
	img, cond := r.Image(unit, q)
	switch {
	case cond != nil && (cond.Code == resource.CondRegistryUnavailable || cond.Code == resource.CondImageUnverified || cond.Code == resource.CondArchitectureUnknown):
		return plan.BootSeen{State: plan.ImageFailing, Code: cond.Code, Message: cond.Message}
	case cond != nil:
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	case img == nil:
		return plan.BootSeen{State: plan.ImageAsked}
	}
	full, err := plan.WithArguments(*img, server, owner)
	if err != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: resource.CondImageInvalid, Message: err.Error()}
	}
	return plan.BootSeen{State: plan.ImageReady, Image: &full}
}
