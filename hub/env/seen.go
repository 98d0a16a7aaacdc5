package env

import (
	"rackboot/hub/plan"
	"rackboot/protocol/resource"
)

// Seen is what is known of a boot environment for a server.
func (c *Room) Seen(f plan.Fleet, srv *resource.Server, name string, w plan.EnvFor, key string) plan.BootSeen {
	img, cond := c.See(f, srv, name, w, key)
	switch {
	case cond != nil:
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	case img == nil:
		return plan.BootSeen{State: plan.ImageAsked}
	}
	return plan.BootSeen{State: plan.ImageReady, Image: img}
}
