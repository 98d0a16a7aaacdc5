package status

import (
	"fmt"
	"slices"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// decorateHold fills how far a hold has come from the newest report of its server.
func (c *Room) decorateHold(h *resource.Hold) {
	seen, got, read := c.holdSeen(h)
	st, now := &h.Status, c.cfg.Clock()
	st.Word, st.State, st.Receipt, st.SignedReceipt = seen.Word(), seen.State(), seen.InForce(), nil
	if hr := seen.Report; hr != nil {
		if at := hr.EnforcedAt; !at.IsZero() {
			st.EnforcedAt = &at
		}
		st.ExpiredAt = hr.ExpiredAt
		if st.Receipt != nil {
			st.SignedReceipt = hr.Receipt
		}
	}
	st.ReadAt, st.Stale = read.when(), read.Stale()
	st.Limit = c.limit(h.Spec.Server)
	st.Message = c.holdMessage(h, seen, read, now.Sub(got))
}

// holdSeen is what is known of a hold, when the report came that says so, and how old the
// read is that it rests on.
func (c *Room) holdSeen(h *resource.Hold) (seen plan.HoldSeen, got time.Time, read Read) {
	read = c.readOf(h.Spec.Server, h.Status.Rack)
	seen.Stale = read.Stale()
	seen.Released = h.Status.ReleasedAt != nil
	agent := ""
	if rack, err := store.Peek[*resource.Rack](c.cfg.Objects, h.Status.Rack); err == nil && rack.Status.Agent != "" {
		agent = rack.Status.Agent
		seen.Laid = c.cfg.Reports.Enforced(agent, h.Metadata.Name)
	}
	r, got := c.cfg.Reports.Server(h.Spec.Server)
	if r == nil {
		return seen, got, read
	}
	seen.Dark = c.cfg.Clock().Sub(got) > reports.DarkAfter
	if i := slices.IndexFunc(r.Holds, func(hr resource.HoldReport) bool { return hr.ID == h.Metadata.Name }); i >= 0 {
		seen.Report = &r.Holds[i]
		seen.Softer = r.Holds[i].Mode == resource.StopSoft && h.Spec.Mode == resource.StopHard
		seen.Receipt = c.receipt(h, r.Holds[i].Receipt)
		if p := seen.Receipt; p != nil && p.Manual == nil && !c.cfg.Reports.Proves(agent, h.Spec.Server, h.Metadata.Name, r.Holds[i].Receipt) {
			seen.Receipt = nil
		}
		seen.Void = seen.Receipt != nil && seen.Receipt.Manual == nil && c.earlier(h.Status.Rack, seen.Receipt.Run)
	}
	return seen, got, read
}

// earlier reports whether the rack's agent speaks in another run than that of a receipt.
func (c *Room) earlier(rack, run string) bool {
	r, err := store.Peek[*resource.Rack](c.cfg.Objects, rack)
	if err != nil {
		return false
	}
	m, _, heard := c.cfg.Reports.Agent(r.Status.Agent)
	return heard && m.Run != run
}

// holdMessage says why a hold is not further, and what else must be known of it.
func (c *Room) holdMessage(h *resource.Hold, seen plan.HoldSeen, read Read, silent time.Duration) (text string) {
	add := func(format string, args ...any) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf(format, args...)
	}
	hr, state := seen.Report, seen.State()
	switch {
	case state == resource.StateReleasing && hr != nil && hr.Released != nil:
		add("released at the agent by %q", hr.Released.By)
	case state == resource.StateReleasing && c.cfg.Approvals.OverrideOf(h) != "":
		add("its release waits for approval %s: rackctl approve show %s", c.cfg.Approvals.OverrideOf(h), c.cfg.Approvals.OverrideOf(h))
	case state == resource.StateReleasing:
		add("the agent has not acknowledged the release")
	case hr == nil && !seen.Laid:
		add("%s", c.unsaid(h))
	case hr == nil:
	case seen.Dark:
		last := string(hr.State)
		if last == "" {
			last = string(hr.Word)
		}
		add("the agent is silent; last word %s, %s ago", last, silent.Round(time.Second))
		if r := seen.InForce(); r != nil && r.Manual == nil {
			add("the receipt proves it off from %s to %s", r.StoppedSince.UTC().Format(time.RFC3339), r.ConfirmedAt.UTC().Format(time.RFC3339))
		}
	case state == resource.StateStale:
		add("%s; last word %s", read.text(), hr.State)
		if r := seen.InForce(); r != nil && r.Manual == nil {
			add("the receipt proves it off from %s to %s", r.StoppedSince.UTC().Format(time.RFC3339), r.ConfirmedAt.UTC().Format(time.RFC3339))
		}
	default:
		if hr.Reason != "" {
			add("%s", hr.Reason)
		}
		if seen.Softer {
			add("the agent has it as soft yet")
		}
		if seen.Void {
			add("its receipt is of an earlier run of the agent, which proves it anew")
		}
		if why := c.doubt(h, hr); why != "" {
			add("%s", why)
		} else if seen.Receipt == nil && (hr.Word == resource.HoldFenced || hr.State == resource.StateFenced || len(hr.Receipt) > 0) {
			add("its receipt is not the rack's agent's for this hold")
		}
		if hr.State != "" && state == resource.StateEnforced && hr.State != resource.StateEnforced {
			add("the agent says %s", hr.State)
		}
	}
	if d := h.Status.ConfirmedDown; d != nil && state != resource.StateFenced && state != resource.StateReleasing {
		add("%q says that it is down: %s", d.By, d.Reason)
	}
	return text
}

// doubt is why a hold is not proved although its agent may have said so; empty where its proof counts.
func (c *Room) doubt(h *resource.Hold, hr *resource.HoldReport) string {
	rack, err := store.Peek[*resource.Rack](c.cfg.Objects, h.Status.Rack)
	if err != nil || rack.Status.Agent == "" {
		return ""
	}
	if why := c.cfg.Link.Doubt(rack.Status.Agent); why != "" {
		return fmt.Sprintf("agent %s %s: nothing that it proved counts until it proves it anew", rack.Status.Agent, why)
	}
	if len(hr.Receipt) > 0 && !c.cfg.Reports.Proves(rack.Status.Agent, h.Spec.Server, h.Metadata.Name, hr.Receipt) {
		return "its receipt is of a time of which the agent's proofs do not count; it proves anew"
	}
	return ""
}

// unsaid is why nothing is known of a hold beyond its acceptance.
func (c *Room) unsaid(h *resource.Hold) string {
	rack, err := store.Peek[*resource.Rack](c.cfg.Objects, h.Status.Rack)
	if err != nil || rack.Status.Agent == "" {
		return "its rack has no agent"
	}
	return "on its way to agent " + rack.Status.Agent
}

// receipt opens a hold's signed receipt; one that no agent of the rack signed is
// none, nor is another hold's.
func (c *Room) receipt(h *resource.Hold, signed []byte) *resource.Receipt {
	if len(signed) == 0 {
		return nil
	}
	r, err := store.Peek[*resource.Rack](c.cfg.Objects, h.Status.Rack)
	if err != nil {
		return nil
	}
	for _, key := range r.Status.AgentKeys {
		var out resource.Receipt
		if wire.Open(wire.NewVerifier(key), wire.FactReceipt, signed, &out) == nil &&
			out.HoldID == h.Metadata.Name && out.Server == h.Spec.Server {
			return &out
		}
	}
	return nil
}
