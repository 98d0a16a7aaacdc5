package plan

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// FormerOf is what a configuration that takes the place of another may return to: that one
// if it was booted well, or else what it could return to itself. after is how many boots of
// the new one may fail, of its group; 0 is that it never returns.
func FormerOf(was *resource.BootConfiguration, after int) *resource.FormerBoot {
	switch {
	case after == 0 || was == nil:
		return nil
	case was.Installed() && was.Spec.BootEnv == "":
		s := was.Spec
		return &resource.FormerBoot{
			After:       after,
			GrantedBoot: was.Granted(),
			Revision:    s.Revision,
			Ignition:    s.Ignition,
		}
	case was.Spec.Former != nil:
		f := *was.Spec.Former
		f.After = after
		return &f
	}
	return nil
}

// bootFallback is what a configuration may return to, as it travels.
func bootFallback(f Fleet, cfg *resource.BootConfiguration) *message.BootFallback {
	o := cfg.Spec.Former
	if o == nil {
		return nil
	}
	out := &message.BootFallback{
		After:       o.After,
		GrantedBoot: o.GrantedBoot,
	}
	if o.Ignition != nil {
		out.Ignition = message.IgnitionOf(*o.Ignition)
		if in, ok := f.Made.FormerIgnitions[cfg.Metadata.Name]; ok && in.Ref() == *o.Ignition {
			out.Ignition = &in
		}
	}
	return out
}
