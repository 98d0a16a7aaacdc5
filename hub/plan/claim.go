package plan

import (
	"fmt"

	"rackboot/protocol"
)

// Claimed are the conditions of a bound claim that the hub alone can see. ignition is the
// present version of the Secret that the claim names; nil if there is none. srv is the
// server that it is bound to; nil if there is none.
func Claimed(c *protocol.Claim, srv *protocol.Server, cfg *protocol.BootConfiguration, ignition *protocol.IgnitionRef, rackHasAgent bool) (out []protocol.ConditionState) {
	add := func(code protocol.ConditionCode, format string, args ...any) {
		out = append(out, protocol.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if c.Status.Server != "" && !rackHasAgent {
		add(protocol.CondNoAgent, "server %s", c.Status.Server)
	}
	if cfg == nil {
		return out
	}
	// What a group gives a claim that names no user data is the group's to change.
	groups := cfg.Spec.Group != "" && c.Spec.IgnitionSecretRef == nil
	if differs(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, cfg) {
		add(protocol.CondReprovisionRequired, "%s", sourceDiffers("claim", c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, cfg))
	} else if !c.Spec.BootPolicy.Same(cfg.Spec.BootPolicy) {
		add(protocol.CondReprovisionRequired, "the claim's boot policy differs from the configuration's")
	} else if !groups && !IgnitionFits(cfg.Spec.Ignition, c.Spec.IgnitionSecretRef, ignition) {
		add(protocol.CondReprovisionRequired, "the claim's user data differs from what the server was given")
	} else if srv != nil && protocol.JoinKernelArgs(srv.Spec.KernelArgs, c.Spec.KernelArgs) != cfg.Spec.KernelArgs {
		add(protocol.CondReprovisionRequired, "the kernel arguments of server and claim differ from what the server was booted with, %q", cfg.Spec.KernelArgs)
	}
	return out
}
