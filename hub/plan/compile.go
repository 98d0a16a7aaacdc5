package plan

import (
	"fmt"
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Documents are what one agent is to have, without heads and times: the ledger
// gives those when the content differs from what was last sent.
type Documents struct {
	Holds message.HoldDoc
	Racks []message.RackDoc // by shard
	// Withheld says why a server's entry does not travel, by server. The agent keeps
	// the one that it has.
	Withheld map[string]string
	// TooOld is what the agent lacks for the boot of a server, which is left out.
	TooOld map[string][]message.Capability
	// Unheeded is what the agent is sent and does not heed, by server.
	Unheeded map[string][]string
}

// Compile makes the documents of every rack that has an active agent, by agent, and those of the
// agent that stands by for it. The same fleet gives the same documents.
func Compile(f Fleet) map[string]Documents {
	out := map[string]Documents{}
	f = f.Indexed()
	for _, r := range f.Racks {
		if r.Status.Agent == "" && !f.StandsBy(r) {
			continue
		}
		d := compileRack(f, r)
		if r.Status.Agent != "" {
			out[r.Status.Agent] = d
		}
		if f.StandsBy(r) {
			out[r.Status.Standby] = compileStandby(f, d, r)
		}
	}
	return out
}

// CompileHolds makes the hold documents of active agents alone, as Compile does. Of the fleet it takes
// racks, holds, requests and peers; a hold must name its rack.
func CompileHolds(f Fleet) map[string]message.HoldDoc {
	out := map[string]message.HoldDoc{}
	f = f.Indexed()
	for _, r := range f.Racks {
		if r.Status.Agent != "" {
			out[r.Status.Agent] = compileHolds(f, r, f.Peers[r.Status.Agent])
		}
	}
	return out
}

func compileRack(f Fleet, r *resource.Rack) Documents {
	name, agent, term := r.Metadata.Name, r.Status.Agent, r.Status.Term
	peer := f.Peers[agent]
	d := Documents{Holds: compileHolds(f, r, peer), TooOld: map[string][]message.Capability{}, Unheeded: map[string][]string{}, Withheld: map[string]string{}}
	var servers []message.ServerIntent
	for _, s := range f.index.byRack[name] {
		if why := withheld(f.bmc(s.Spec.BMCRef.Name)); why != "" {
			d.Withheld[s.Metadata.Name] = why
			continue
		}
		in := Intent(f, s)
		if lacking := fit(&in, peer); len(lacking) > 0 {
			d.TooOld[in.Server] = lacking
		}
		terms := unheeded(in, d.Holds, peer)
		if terms = append(append(terms, unfrozen(in, peer)...), unserved(f, name, in, peer)...); len(terms) > 0 {
			d.Unheeded[in.Server] = terms
		}
		servers = append(servers, in)
	}
	shards := shard(servers, f.Made.Shards)
	for i, chunk := range shards {
		doc := message.RackDoc{Agent: agent, Term: term, Shard: i, Shards: len(shards), Servers: chunk}
		if i == 0 {
			doc.Rack = rackIntent(f, r, peer)
			doc.Rack.Upgrade = upgradeIntent(f, agent)
		}
		d.Racks = append(d.Racks, doc)
	}
	return d
}

// withheld says why nothing that needs a BMC travels to an agent; empty if it does.
func withheld(b *resource.BMC) string {
	switch {
	case b.Pending():
		return fmt.Sprintf("BMC %s was found and waits to be accepted: rackctl bmc accept %s", b.Metadata.Name, b.Metadata.Name)
	case b.Reach() == "":
		return fmt.Sprintf("the address of BMC %s is not known: %s was not seen on a bmc segment of the rack", b.Metadata.Name, b.Spec.MACAddress)
	}
	return ""
}

// SealedIntent is how the agent of a BMC's rack reaches it, with what was sealed for that
// agent; false while it may not or cannot.
func SealedIntent(f Fleet, b *resource.BMC) (message.BMCIntent, bool) {
	in, usable := BMCIntent(b)
	in.Sealed = f.Made.Sealed[b.Metadata.Name]
	return in, usable
}

// BMCIntent is how an agent reaches a BMC, without credentials; false while it may not
// or cannot.
func BMCIntent(b *resource.BMC) (message.BMCIntent, bool) {
	return message.BMCIntent{
		Name: b.Metadata.Name, Address: b.Reach(), CredentialsRef: b.Spec.CredentialsRef,
		Fingerprint: b.Spec.TLS.Fingerprint, CA: b.Spec.TLS.CA, LegacyTLS: b.Spec.TLS.Legacy,
	}, withheld(b) == ""
}

func rackIntent(f Fleet, r *resource.Rack, peer Peer) *message.RackIntent {
	in := &message.RackIntent{
		SafeStop: message.SafeStopOf(r.Spec.SafeStop), Inrush: message.InrushOf(r.Spec.Inrush),
		Name: r.Metadata.Name, SoftTimeout: r.Spec.SoftTimeout.D(), SettleWindow: r.Spec.SettleWindow.D(),
		PollInterval: r.Spec.PollInterval.D(), AgentKeys: r.Status.AgentKeys,
	}
	in.Twin = twin(f, r)
	for _, over := range r.Status.TakenOver {
		in.TakenOver = append(in.TakenOver, over.Agent)
	}
	if slices.Contains(peer.Capabilities, message.CapBootKeep) {
		in.Keep = f.Made.Keep[r.Metadata.Name]
	}
	for _, s := range f.index.parts[r.Metadata.Name] {
		seg, errs := s.Intent()
		// An agent that knows no roles would take it for one that hosts boot from.
		tooOld := !seg.Role.BootsHosts() && !slices.Contains(peer.Capabilities, message.CapAsk)
		if len(errs) > 0 || tooOld {
			continue
		}
		if !slices.Contains(peer.Capabilities, message.CapSegmentIPv6) {
			seg.IPv6 = nil // an agent that does not know it must not say that it has it in force
		}
		if seg.Role.HasBMCs() {
			seg.BMCMACs = bmcMACs(f, r.Metadata.Name)
		}
		in.Segments = append(in.Segments, seg)
	}
	return in
}

// bmcMACs are of the rack's accepted BMCs whose address is that of their lease.
func bmcMACs(f Fleet, rack string) (out []string) {
	for _, b := range f.bmcsIn(rack) {
		if !b.Pending() && b.Spec.MACAddress != "" && b.Spec.Address == "" {
			out = append(out, b.Spec.MACAddress)
		}
	}
	slices.Sort(out)
	return out
}

// Intent is what one server shall be.
func Intent(f Fleet, s *resource.Server) message.ServerIntent {
	boot, macs := s.CountedMACs()
	in := message.ServerIntent{
		DisablePowerOff: s.Spec.DisablePowerOff, KeepPowerRestorePolicy: s.Spec.KeepPowerRestorePolicy,
		Server: s.Metadata.Name, UID: s.Metadata.UID, SystemURI: s.Spec.SystemURI, Segment: s.Spec.SegmentRef.Name,
		BootMAC: boot, MACs: macs, UUID: s.Spec.UUID, Architecture: s.Architecture(),
		Identity: s.Status.AcceptedIdentity, ForgetTPM: s.Status.ForgetTPM,
	}
	if b := f.bmc(s.Spec.BMCRef.Name); b != nil {
		in.BMC, _ = SealedIntent(f, b)
	}
	if w := s.Status.Firmware; w != nil && f.Now.Before(w.NotAfter) {
		in.Firmware = w
	}
	rack := f.RackOf(s.Metadata.Name)
	in.Frozen = Frozen(f.Made.Freezes, s, rack, f.Now)
	if r := f.Rack(rack); r != nil {
		in.Feed = r.Spec.Inrush.Feed(s.Metadata.Labels)
	}
	setOwner(f, &in)
	if in.Architecture == "" && in.Boot != nil {
		in.Architecture = in.Boot.Image.Architecture // firmware that asks for another is refused
	}
	return in
}

// compileHolds carries every hold and every release that was not acknowledged, and
// that waits for no other document. A
// hold travels to the rack that it was placed in, also when its server is not at
// the hub any more: only a release ends it.
func compileHolds(f Fleet, r *resource.Rack, peer Peer) message.HoldDoc {
	d := message.HoldDoc{Agent: r.Status.Agent, Term: r.Status.Term}
	for _, h := range f.index.holds[r.Metadata.Name] {
		if f.Made.HoldsWait[h.Metadata.Name] {
			continue
		}
		if h.Status.ReleasedAt != nil && !f.Made.ReleasesWait[h.Metadata.Name] {
			d.Releases = append(d.Releases, resource.Release{HoldID: h.Metadata.Name, Server: h.Spec.Server, By: h.Status.ReleasedBy, At: *h.Status.ReleasedAt, Reason: h.Status.ReleaseReason})
			continue
		}
		d.Holds = append(d.Holds, resource.ActiveHold{ID: h.Metadata.Name, HoldSpec: h.Spec, ConfirmedDown: h.Status.ConfirmedDown})
	}
	for _, q := range f.index.asked[r.Metadata.Name] {
		// One that was given to another disk may have been done there (P9).
		if peer.Incarnation != "" && q.Incarnation == peer.Incarnation && len(message.Lacking(peer.Capabilities, message.RequestNeeds(q.Request))) == 0 {
			d.Requests = append(d.Requests, q.Request)
		}
	}
	if slices.Contains(peer.Capabilities, message.CapApproval) {
		d.Approvals = f.Made.Approvals[r.Metadata.Name]
	}
	return d
}

// unfrozen says that an agent passes over a freeze.
func unfrozen(in message.ServerIntent, peer Peer) (out []string) {
	if in.Frozen == nil || peer.Incarnation == "" || slices.Contains(peer.Capabilities, message.CapFreeze) {
		return nil
	}
	return []string{"the freeze: the server is switched on all the same"}
}

// unheeded says what an agent that knows no terms of holds is sent and passes over.
// The hold itself is enforced by every agent.
func unheeded(in message.ServerIntent, d message.HoldDoc, peer Peer) (out []string) {
	if peer.Incarnation == "" || slices.Contains(peer.Capabilities, message.CapHoldTerms) {
		return nil
	}
	if in.Firmware != nil {
		out = append(out, "the mark of firmware work: holds and reboots stop the server all the same")
	}
	for _, h := range d.Holds {
		if h.Server != in.Server {
			continue
		}
		if h.TTL != 0 {
			out = append(out, fmt.Sprintf("the time to live of hold %s: it lies until it is released", h.ID))
		}
		if h.ConfirmedDown != nil {
			out = append(out, fmt.Sprintf("that somebody confirmed hold %s down", h.ID))
		}
	}
	return out
}

// unserved says which segment's IPv6 side, that the server boots from, is not sent to
// an agent that would not serve it, whether the agent passes over the rack's stop image or inrush limit,
// and whether it returns to no image before a new one.
func unserved(f Fleet, rack string, in message.ServerIntent, peer Peer) (out []string) {
	if peer.Incarnation == "" {
		return nil
	}
	seg := f.segmentOf(rack, in.Segment)
	if seg != nil && seg.Spec.IPv6 != nil && !slices.Contains(peer.Capabilities, message.CapSegmentIPv6) {
		out = append(out, fmt.Sprintf("spec.ipv6 of segment %s: it serves IPv4 only", seg.Metadata.Name))
	}
	if in.Boot != nil && in.Boot.Fallback != nil && !slices.Contains(peer.Capabilities, message.CapBootFallback) {
		out = append(out, "the image to return to: it goes on with the new one, however often that fails")
	}
	if r := f.Rack(rack); r != nil && r.Spec.Inrush != nil && !slices.Contains(peer.Capabilities, message.CapInrush) {
		out = append(out, "spec.inrush of the rack: the server is switched on without waiting for others")
	}
	if r := f.Rack(rack); r != nil && r.Spec.SafeStop != nil && !slices.Contains(peer.Capabilities, message.CapRequestResume) {
		out = append(out, "spec.safeStop of the rack: it refuses firmware that asks without an order")
	}
	return out
}

// fit leaves out of an entry what the agent must not be sent, and says what it
// lacks for it. A boot that is not provisioned and whose grant cannot travel is
// left out whole. Provisioned is a record, or somebody's word in its place.
//
//	able | grant recorded | provisioned | boot          | lacks
//	no   | *              | *           | none          | yes
//	yes  | yes            | *           | whole         | no
//	yes  | no             | yes         | without grant | no
//	yes  | no             | no          | none          | no
func fit(in *message.ServerIntent, peer Peer) (lacking []message.Capability) {
	if in.Settings != nil && peer.Incarnation != "" {
		if lacking = message.Lacking(peer.Capabilities, firmwareNeeds()); len(lacking) > 0 {
			in.Settings = nil
		}
		return lacking
	}
	if in.Boot == nil {
		return nil
	}
	if peer.Incarnation != "" {
		lacking = message.Lacking(peer.Capabilities, in.Boot.Needs())
	}
	recorded := peer.Incarnation != "" && in.Boot.GrantFor != ""
	switch {
	case len(lacking) > 0:
		in.Boot = nil
	case recorded:
	case len(in.Boot.Provisioned) > 0, in.Boot.Adopted != nil:
		in.Boot.Grant, in.Boot.GrantFor = nil, ""
	default:
		in.Boot = nil
	}
	return lacking
}
