package plan

import (
	"fmt"

	"rackboot/protocol"
)

// Claimed are the conditions of a bound claim that the hub alone can see.
func Claimed(c *protocol.Claim, cfg *protocol.BootConfiguration, rackHasAgent bool) (out []protocol.ConditionState) {
	add := func(code protocol.ConditionCode, format string, args ...any) {
		out = append(out, protocol.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if c.Status.Server != "" && !rackHasAgent {
		add(protocol.CondNoAgent, "server %s", c.Status.Server)
	}
	if cfg == nil {
		return out
	}
	if c.Spec.Image != cfg.Spec.Image.Reference {
		add(protocol.CondReprovisionRequired, "the claim says image %s, the server boots %s", c.Spec.Image, cfg.Spec.Image.Reference)
	} else if c.Spec.BootPolicy != cfg.Spec.BootPolicy {
		add(protocol.CondReprovisionRequired, "the claim's boot policy differs from the configuration's")
	}
	return out
}
