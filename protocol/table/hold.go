package table

import (
	"strconv"
	"time"

	"rackboot/protocol/resource"
)

func hold(h *resource.Hold, _ time.Time) []filled {
	var stopped Cell
	if r := h.Status.Receipt; r != nil {
		stopped = at(&r.StoppedSince)
	}
	ttl := ""
	if h.Spec.TTL != 0 {
		ttl = h.Spec.TTL.String() + " " + string(h.Spec.OnExpiry)
	}
	if h.Status.ExpiredAt != nil {
		ttl += ", expired"
	}
	return []filled{
		name(h),
		column("SERVER", "The server that it holds.", text(h.Spec.Server)),
		column("KEY", "What its owner calls it.", text(h.Spec.Key)),
		column("OWNER", "Who has placed it.", text(h.Spec.Owner)),
		column("MODE", "How its server is stopped.", text(h.Spec.Mode)),
		column("STATE", "Where it stands. Only a proof that the server is off is ok.", text(h.Status.State).toned(holdTone(h.Status.State))),
		column("READ", "When the BMC of its server was read last.", read(h.Status.ReadAt, h.Status.Stale)),
		age(h),
		column("REASON", "Why it is.", text(h.Spec.Reason)),
		wide("REF", "What its owner refers to.", text(h.Spec.Ref)),
		wide("TTL", "How long it lasts, and what comes then.", text(ttl)),
		wide("ENFORCED", "When its agent had it on disk.", at(h.Status.EnforcedAt)),
		wide("STOPPED-SINCE", "Since when its server is known to be off.", stopped),
		wide("LIMIT", "What keeps it from being forced.", text(h.Status.Limit)),
		wide("MESSAGE", "What is said of it.", text(h.Status.Message)),
	}
}

// holdTone is how good a state of a hold is. Only a proof is good.
func holdTone(s resource.HoldState) Tone {
	switch s {
	case resource.StateFenced:
		return ToneOK
	case resource.StateViolated, resource.StateUnreachable, resource.StateStale:
		return ToneBad
	case resource.StateAccepted, resource.StateEnforced, resource.StateStopping, resource.StateForcing, resource.StateConfirmed, resource.StateReleasing:
	}
	return ToneWarn
}

func freeze(o *resource.Freeze, _ time.Time) []filled {
	until := at(o.Spec.Until)
	if o.Status.Over {
		until = text("over").toned(ToneMuted)
	}
	return []filled{
		name(o),
		column("FROZEN", "What is frozen: a rack, servers with these labels, or all.", text(frozen(o))),
		column("SERVERS", "How many servers have been told, of how many.", text(strconv.Itoa(o.Status.Told)+"/"+strconv.Itoa(o.Status.Servers))),
		column("BY", "Who has frozen them.", text(o.Status.By)),
		column("UNTIL", "When it ends by itself.", until),
		age(o),
		column("REASON", "Why it is.", text(o.Spec.Reason)),
	}
}

// frozen is what a freeze is of.
func frozen(o *resource.Freeze) string {
	switch {
	case o.Spec.RackRef != nil:
		return "rack " + o.Spec.RackRef.Name
	case o.Spec.ServerSelector != nil:
		return o.Spec.ServerSelector.String()
	}
	return "all"
}
