package plan

import (
	"time"

	"rackboot/protocol/resource"
)

// Frozen is the freeze that lies on a server of a rack at a time, which its agent is told; nil is none. Of several it is
// the one that ends last, of those the first by name.
func Frozen(all []*resource.Freeze, s *resource.Server, rack string, now time.Time) *resource.Frozen {
	var last *resource.Frozen
	for _, z := range all {
		if !Freezes(z, s, rack, now) {
			continue
		}
		if last == nil || outlasts(z.Spec.Until, last.Until) {
			last = &resource.Frozen{Name: z.Metadata.Name, By: z.Status.By, Reason: z.Spec.Reason, Until: z.Spec.Until}
			if z.Metadata.CreatedAt != nil {
				last.Since = *z.Metadata.CreatedAt
			}
		}
	}
	return last
}

// Freezes reports whether a freeze lies on a server of a rack at a time.
func Freezes(z *resource.Freeze, s *resource.Server, rack string, now time.Time) bool {
	if Thawed(z, now) {
		return false
	}
	switch {
	case z.Spec.RackRef != nil:
		return z.Spec.RackRef.Name == rack
	case z.Spec.ServerSelector != nil:
		return z.Spec.ServerSelector.Matches(s.Metadata.Labels)
	}
	return z.Spec.All
}

// Thawed reports whether the time of a freeze is over.
func Thawed(z *resource.Freeze, now time.Time) bool {
	return z.Spec.Until != nil && !now.Before(*z.Spec.Until)
}

// outlasts reports whether one end is later than another; nil is never.
func outlasts(a, b *time.Time) bool {
	return b != nil && (a == nil || a.After(*b))
}
