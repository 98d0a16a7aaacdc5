package plan

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// ignitionIntent is a configuration's user data as it travels; nil without any. Until it is
// sealed the agent knows that there is some, and does not boot without it.
func ignitionIntent(f Fleet, cfg *resource.BootConfiguration) *message.IgnitionIntent {
	if cfg.Spec.Ignition == nil {
		return nil
	}
	if in, ok := f.Made.Ignitions[cfg.Metadata.Name]; ok && in.Ref() == *cfg.Spec.Ignition {
		return &in
	}
	return message.IgnitionOf(*cfg.Spec.Ignition)
}

// ignitionFits says how a claim's user data stands against what its configuration fixed:
// have is the present version of the Secret that the claim names, nil where it names
// none or it is gone. The first row that fits decides.
//
//	configuration | claim names | present  | fits
//	none          | none        | *        | yes
//	none          | *           | *        | no
//	one           | the same    | the same | yes
//	one           | the same    | gone     | yes
//	one           | *           | *        | no
//
// A Secret that is gone changes nothing: what was booted has it.
func ignitionFits(fixed *resource.IgnitionRef, named *resource.Ref, have *resource.IgnitionRef) bool {
	switch {
	case fixed == nil || named == nil:
		return fixed == nil && named == nil
	case named.Name != fixed.Secret:
		return false
	}
	return have == nil || have.UID == fixed.UID && have.Digest == fixed.Digest
}
