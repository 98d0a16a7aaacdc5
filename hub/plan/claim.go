package plan

import (
	"fmt"

	"rackboot/protocol/resource"
)

// Claimed are the conditions of a bound claim that the hub alone can see. ignition is the
// present version of the Secret that the claim names; nil if there is none. srv is the
// server that it is bound to; nil if there is none.
func Claimed(c *resource.Claim, srv *resource.Server, cfg *resource.BootConfiguration, ignition *resource.IgnitionRef, rackHasAgent bool) (out []resource.ConditionState) {
	add := func(code resource.ConditionCode, format string, args ...any) {
		out = append(out, resource.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if c.Status.Server != "" && !rackHasAgent {
		add(resource.CondNoAgent, "server %s", c.Status.Server)
	}
	if cfg == nil {
		return out
	}
	// What a group gives a claim that names no user data is the group's to change.
	groups := cfg.Spec.Group != "" && c.Spec.IgnitionSecretRef == nil
	if differs(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, cfg) {
		add(resource.CondReprovisionRequired, "%s", sourceDiffers("claim", c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, cfg))
	} else if !c.Spec.BootPolicy.Same(cfg.Spec.BootPolicy) {
		add(resource.CondReprovisionRequired, "the claim's boot policy differs from the configuration's")
	} else if !groups && !ignitionFits(cfg.Spec.Ignition, c.Spec.IgnitionSecretRef, ignition) {
		add(resource.CondReprovisionRequired, "the claim's user data differs from what the server was given")
	} else if srv != nil && resource.JoinKernelArgs(srv.Spec.KernelArgs, c.Spec.KernelArgs) != cfg.Spec.KernelArgs {
		add(resource.CondReprovisionRequired, "the kernel arguments of server and claim differ from what the server was booted with, %q", cfg.Spec.KernelArgs)
	}
	return out
}
