package plan

import (
	"fmt"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// EnvThen is what becomes of a claim's configuration when the claim names something else
// to boot.
type EnvThen string

// The answers.
const (
	EnvKeep    EnvThen = "keep"    // nothing differs
	EnvDiffers EnvThen = "differs" // a condition says so; nothing changes
	EnvWait    EnvThen = "wait"    // for the end of the boot by the grant that was given
	EnvReplace EnvThen = "replace" // a configuration of the next generation takes its place
)

// envChangeRule judges a claim that names another image or boot environment than its
// configuration. The first row that fits decides.
//
//	changed | env | installed | begun | then
//	no      | *   | *         | *     | keep
//	yes     | no  | *         | *     | differs
//	yes     | yes | yes       | *     | differs
//	yes     | yes | no        | yes   | wait
//	yes     | yes | no        | no    | replace
//
// env is that one of the two is a boot environment: from one image to another the claim
// is deleted and created again, as ever. installed is that there is a system on the disk
// which is booted from there. begun is that the agent was given the grant and is booting
// by it, or has not said. What was fixed is replaced only by what was found good, so that
// a refusal leaves it as it is (seed 004, Changing a BootEnv for a Machine).
func envChangeRule(changed, env, installed, begun bool) EnvThen {
	switch {
	case !changed:
		return EnvKeep
	case env && !installed && begun:
		return EnvWait
	case env && !installed:
		return EnvReplace
	}
	return EnvDiffers
}

// EnvChange judges a claim and its configuration.
func EnvChange(f Fleet, c *resource.Claim, cfg *resource.BootConfiguration) EnvThen {
	env := c.Spec.BootEnv != nil || cfg.Spec.BootEnv != ""
	installed := cfg.Installed() && !Repeats(cfg.Spec.Owner.Kind, cfg.Spec.BootPolicy)
	begun := false
	if r := f.Reports[cfg.Spec.Server]; cfg.Status.GrantFor != "" {
		begun = r == nil || r.OwnerUID == cfg.Spec.Owner.UID && r.Attempt != nil &&
			r.Attempt.State != resource.AttemptSucceeded && r.Attempt.State != resource.AttemptFailed
	}
	return envChangeRule(differs(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, cfg), env, installed, begun)
}

// UnderWay says that a claim's change waits, and for what.
func UnderWay(f Fleet, cfg *resource.BootConfiguration) resource.ConditionState {
	boots := "image " + cfg.Spec.Image.Reference
	if cfg.Spec.BootEnv != "" {
		boots = "boot environment " + cfg.Spec.BootEnv
	}
	message := "the agent was given the grant for " + boots + ", and has not said what became of it"
	if r := f.Reports[cfg.Spec.Server]; r != nil && r.Attempt != nil {
		message = fmt.Sprintf("server %s boots %s: attempt %d, %s", cfg.Spec.Server, boots, r.Attempt.Number, r.Attempt.State)
	}
	return resource.ConditionState{Code: resource.CondBootUnderWay, Message: message}
}

// differs says whether an owner names something else to boot than its configuration.
// Which revision of a group's image it is does not matter here: see [Fleet.GroupChange].
func differs(image string, from *resource.ImageFrom, env *resource.Ref, cfg *resource.BootConfiguration) bool {
	switch {
	case from != nil:
		return cfg.Spec.Group != from.Group
	case env != nil:
		return cfg.Spec.BootEnv != env.Name
	}
	return cfg.Spec.Group != "" || cfg.Spec.BootEnv != "" || !cfg.Spec.Image.Is(image)
}

// sourceDiffers says in words how an owner and its configuration differ.
func sourceDiffers(owner, image string, from *resource.ImageFrom, env *resource.Ref, cfg *resource.BootConfiguration) string {
	says, boots := "image "+image, "image "+cfg.Spec.Image.Reference
	switch {
	case from != nil:
		says = "the image of group " + from.Group
	case env != nil:
		says = "boot environment " + env.Name
	}
	if cfg.Spec.Group != "" {
		boots = "the image of group " + cfg.Spec.Group
	}
	if cfg.Spec.BootEnv != "" {
		boots = "boot environment " + cfg.Spec.BootEnv
	}
	return fmt.Sprintf("the %s says %s, the server boots %s", owner, says, boots)
}

// EnvNeeded says whether an agent still makes the files of a configuration's environment.
// What is on the disk and boots from there needs none any more.
func EnvNeeded(cfg *resource.BootConfiguration) bool {
	return cfg.Spec.BootEnv != "" && (!cfg.Installed() || Repeats(cfg.Spec.Owner.Kind, cfg.Spec.BootPolicy))
}

// envIntent is a configuration's environment as it travels; nil without any, or where it is
// needed no more. Until it is sealed the agent knows that there is one, and does not boot
// without it.
func envIntent(f Fleet, cfg *resource.BootConfiguration) *message.EnvIntent {
	if !EnvNeeded(cfg) {
		return nil
	}
	if in, ok := f.Made.Envs[cfg.Metadata.Name]; ok && in.Name == cfg.Spec.BootEnv {
		return &in
	}
	return &message.EnvIntent{Name: cfg.Spec.BootEnv}
}

// envOf is an image's environment, for what an agent must be able to do; nil for an image
// that is one.
func envOf(img resource.Image) *message.EnvIntent {
	if name := img.BootEnv(); name != "" {
		return &message.EnvIntent{Name: name}
	}
	return nil
}
