package agent

import (
	"crypto/ed25519"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// snapshot turns what is durable into what a decision takes: signatures are
// verified here, because decide does not know keys.
func (s *server) snapshot(v store.View) decide.Snapshot {
	snap := decide.Snapshot{
		Server: s.name, Synced: v.Synced, Ended: v.Ended, Holds: v.Holds, Requests: v.Requests, Record: v.Record, Watch: s.watch,
		Asked: v.Asked, HubTime: s.agent.link.Time(), Uptime: s.agent.uptime(), Incarnation: v.Incarnation, Settings: settings(v.Rack), NewID: s.agent.random(), NewToken: s.agent.random(), NewMedium: s.agent.random(),
	}
	snap.NoAddress = s.agent.boot.Short(s.name)
	snap.Bulk, snap.Approved = s.agent.bulk(v), v.Boots(s.agent.cfg.Clock())
	if can := s.bmc.can.Load(); can != nil {
		snap.CanGuard = can.guard
	}
	if v.Intent != nil {
		snap.Firmware = v.Intent.Firmware
	}
	if v.Intent == nil || v.Intent.Missing {
		return snap
	}
	in := v.Intent.ServerIntent
	snap.Intent = &in
	if in.Boot == nil {
		return snap
	}
	if len(in.Boot.Grant) > 0 {
		var g message.Grant
		if err := wire.Open(s.agent.link.Verifier(), wire.FactGrant, in.Boot.Grant, &g); err != nil {
			snap.GrantError = err.Error()
		} else {
			snap.Grant = &g
		}
	}
	if len(in.Boot.Provisioned) > 0 {
		// An echo is believed if an agent of this rack signed it, present or earlier.
		var p resource.Provisioned
		if wire.Open(rackKeys(v.Rack), wire.FactProvisioned, in.Boot.Provisioned, &p) == nil {
			snap.Echo = &p
		}
	}
	snap.MediaError = s.mediaError(in)
	if a := in.Boot.Adopted; a != nil && snap.Echo == nil {
		// The hub signed the document that it came in. It is believed, never filed: what
		// this agent signs it has seen.
		snap.Echo = &resource.Provisioned{
			OwnerUID: in.Boot.Owner.UID, Generation: in.Boot.Generation, Server: in.Server, ServerUID: in.UID, ImageDigest: a.ImageDigest, At: a.At,
		}
	}
	snap.Artefacts = s.agent.files.State(in)
	if c, err := s.agent.boot.Chain(in); err != nil {
		snap.ChainError = protocol.Advice(err)
	} else {
		snap.Chain = &c
		if c.First == "" { // an environment that is not there yet, or not any more
			snap.Artefacts.Local = false
		}
	}
	return snap
}

// rackKeys are the keys of the rack's agents. The hub signed the list.
func rackKeys(r message.RackIntent) *wire.Verifier {
	var keys []ed25519.PublicKey
	for _, k := range r.AgentKeys {
		if len(k) == ed25519.PublicKeySize {
			keys = append(keys, k)
		}
	}
	return wire.NewVerifier(keys...)
}

// settings of a rack that has not said any yet are the defaults of the kind.
func settings(r message.RackIntent) decide.Settings {
	d := decide.Settings{SoftTimeout: r.SoftTimeout, SettleWindow: r.SettleWindow, PollInterval: r.PollInterval}
	if d.PollInterval == 0 {
		var k resource.Rack
		k.Default()
		d = decide.Settings{SoftTimeout: k.Spec.SoftTimeout.D(), SettleWindow: k.Spec.SettleWindow.D(), PollInterval: k.Spec.PollInterval.D()}
	}
	if s := r.SafeStop; s != nil {
		d.BelieveAfter = s.BelieveAfter
	}
	d.PollInterval = jitter(d.PollInterval)
	return d
}

// describe is the server's report.
func (s *server) describe(v store.View, p decide.Plan) resource.ServerReport {
	rec := p.Record
	r := resource.ServerReport{
		Server: s.name, Image: s.images.report(), Identity: rec.Identity.Digest(), Observation: p.Watch.Last, Power: rec.Power, PowerEpoch: rec.Epoch, Conditions: rec.Conditions,
		StoppedSince: when(p.Watch.OffSince), PendingRebootSince: when(rec.PendingRebootSince),
	}
	r.Safety, r.Unexpected, r.Fallback = rec.Safety, rec.UnexpectedReport(), rec.Fallback.Report()
	if v.Intent != nil && !v.Intent.Missing {
		r.LastPoweredOn = when(rec.PoweredOn(&v.Intent.ServerIntent))
		r.OwnerUID = v.Intent.Owner.UID
		r.Account = s.agent.accounts.Report(v.Intent.BMC)
		r.Released = v.Intent.Releasing && rec.Released == v.Intent.Owner.UID
		if v.Intent.Boot != nil {
			r.Env = s.agent.files.Report(v.Intent.ServerIntent)
			r.BootGeneration = v.Intent.Boot.Generation
			r.ArtefactsLocal = s.agent.files.State(v.Intent.ServerIntent).Local
		}
	}
	if a := rec.Attempt; a != nil {
		r.Attempt = &resource.AttemptReport{
			ID: a.ID, State: a.State, Since: a.Since, Number: a.Number, Intended: a.Intended, Observed: a.Observed,
			Stored: a.Stored, Outcome: a.Outcome, Evidence: a.Evidence, Reason: a.Reason, Code: a.Code,
		}
		if seg, ok := s.agent.boot.Segment(segmentOf(v)); ok && a.Network() {
			r.Attempt.URI = seg.BaseURL + "/b/…/" + a.File
		}
		if a.Intended == protocol.TargetCd && v.Intent != nil {
			way, _ := s.agent.boot.MediaWay(v.Intent.ServerIntent) // without one there is no base
			r.Attempt.URI = way.Base + "/b/…/" + a.File
		}
	}
	r.Holds = s.describeHolds(v, p)
	for _, q := range rec.Requests {
		r.Requests = append(r.Requests, resource.RequestReport{ID: q.ID, Outcome: q.Outcome, At: q.EndedAt, Reason: q.Reason})
	}
	if p := provisionedOf(v, rec); p != nil {
		r.Provisioned = s.seal(wire.FactProvisioned, p)
	}
	return r
}

// provisionedOf is the record of the owner's configuration, or else the newest.
func provisionedOf(v store.View, rec decide.Record) *resource.Provisioned {
	if in := v.Intent; in != nil && in.Boot != nil {
		if p := rec.ProvisionedFor(in.Boot.Owner.UID, in.Boot.Generation); p != nil {
			return p
		}
	}
	return rec.Provisioned
}

// describeHolds is how far the holds have come that lie, and those that ended here.
// Only a proof makes a word Fenced; an operator's word is a receipt without it.
func (s *server) describeHolds(v store.View, p decide.Plan) (out []resource.HoldReport) {
	rec := p.Record
	var work *resource.FirmwareWork
	if v.Intent != nil {
		work = v.Intent.Firmware
	}
	for _, h := range v.Holds {
		hr := resource.HoldReport{ID: h.ID, Word: resource.HoldEnforced, EnforcedAt: h.EnforcedAt, Withheld: h.Withheld != "", ExpiredAt: when(rec.Terms[h.ID].ExpiredAt)}
		hr.State, hr.Reason = decide.HoldStands(h, rec, p.Watch, work, settings(v.Rack).SettleWindow)
		if h.Missing || h.Local {
			hr.Hold = &h.ActiveHold
		}
		rc, proved := rec.Receipts[h.ID]
		manual := false
		if proved {
			hr.Word = resource.HoldFenced
		} else {
			rc, manual = rec.Manual[h.ID]
		}
		if proved || manual {
			rc.Agent = s.agent.cfg.Agent
			hr.Receipt = s.seal(wire.FactReceipt, rc)
		}
		out = append(out, hr)
	}
	for _, d := range v.Released {
		out = append(out, resource.HoldReport{ID: d.HoldID, Word: resource.HoldReleased, Released: &d})
	}
	return out
}

// seal signs a fact. The same fact gives the same bytes, so it need not be kept.
func (s *server) seal(fact string, v any) []byte {
	b, err := wire.Seal(s.agent.cfg.Signer, fact, v)
	if err != nil {
		s.log.Error("cannot sign", "fact", fact, "err", err)
	}
	return b
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func segmentOf(v store.View) string {
	if v.Intent == nil {
		return ""
	}
	return v.Intent.Segment
}
