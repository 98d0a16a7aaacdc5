package server

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// teller makes the report of one server. It is the steps'.
type teller struct {
	cfg    *Config
	log    *slog.Logger
	server string
	images *images
}

// publish hands the server's report to the reporter.
func (t *teller) publish(v store.View, p decide.Plan) {
	r := t.describe(v, p)
	var intent *message.ServerIntent
	if v.Intent != nil && !v.Intent.Missing {
		intent = &v.Intent.ServerIntent
	}
	t.cfg.Reports.Put(r, decide.Phase(intent, &r))
}

// withdraw takes back what the last report said of the server, which runs. proved are the holds
// under which it was proved off.
func (t *teller) withdraw(ran protocol.Observation, proved map[string]resource.Receipt) {
	r, phase, ok := t.cfg.Reports.Of(t.server)
	if !ok {
		return
	}
	r.Holds = slices.Clone(r.Holds)
	changed := false
	for i := range r.Holds {
		h := &r.Holds[i]
		if _, was := proved[h.ID]; h.State == resource.StateViolated || !was && len(h.Receipt) == 0 {
			continue
		}
		h.Word, h.State, h.Receipt = resource.HoldEnforced, resource.StateViolated, nil
		h.Reason = fmt.Sprintf("it was read %s at %s, which is not recorded yet: the agent cannot write to its disk", ran.Power, ran.ReadAt.UTC().Format(time.RFC3339))
		changed = true
	}
	if changed {
		t.cfg.Reports.Put(r, phase)
	}
}

// describe returns the server's report.
func (t *teller) describe(v store.View, p decide.Plan) resource.ServerReport {
	rec := p.Record
	r := resource.ServerReport{
		Server: t.server, Image: t.images.report(), Identity: rec.Identity.Digest(), Observation: p.Watch.Last, Power: rec.Shown.Power, PowerEpoch: rec.Shown.Epoch, Conditions: rec.Conditions,
		StoppedSince: when(p.Watch.OffSince), PendingRebootSince: when(rec.PendingRebootSince),
	}
	r.Safety, r.Unexpected, r.Fallback = rec.Safety, rec.UnexpectedReport(), rec.Owners.Fallback.Report()
	var intent *message.ServerIntent
	if v.Intent != nil && !v.Intent.Missing {
		intent = &v.Intent.ServerIntent
	}
	r.Unreleased, r.IdentityChange = rec.Unreleased(intent), rec.Identity.Change()
	r.TPM = t.tpm(rec, intent)
	r.Conditions = withTPM(r.Conditions, r.TPM)
	r.Architecture = t.cfg.Boot.Heard(t.server)
	r.Guard = rec.GuardReport(p.Watch, v.Holds, intent != nil && intent.KeepPowerRestorePolicy)
	if v.Intent != nil && !v.Intent.Missing {
		r.LastPoweredOn = when(rec.PoweredOn(&v.Intent.ServerIntent))
		r.OwnerUID = v.Intent.Owner.UID
		r.Account = t.cfg.Accounts.Report(v.Intent.BMC)
		r.Released = v.Intent.Releasing && rec.Owners.Released == v.Intent.Owner.UID
		if v.Intent.Boot != nil {
			r.Env = t.cfg.Files.Report(v.Intent.ServerIntent)
			r.BootGeneration = v.Intent.Boot.Generation
			r.ArtefactsLocal = t.cfg.Files.State(v.Intent.ServerIntent).Local
		}
	}
	if a := rec.Attempt; a != nil {
		r.Attempt = &resource.AttemptReport{
			ID: a.ID, State: a.Stage.State, Since: a.Stage.Since, Number: a.Number, Intended: a.Order.Target, Observed: a.Stage.Observed,
			Stored: a.Stage.Arming.Stored, Outcome: a.Stage.Arming.Outcome, Evidence: a.Stage.Evidence, Reason: a.Stage.Ending.Reason, Code: a.Stage.Ending.Code,
			Secrets: a.Order.Secrets, Class: a.Stage.Class, Unattested: a.Stage.Unattested, OwnerUID: a.Order.OwnerUID, Generation: a.Order.Generation,
		}
		if seg, ok := t.cfg.Boot.Segment(segmentOf(v)); ok && a.Network() {
			r.Attempt.URI = seg.BaseURL + "/b/…/" + a.Order.File
		}
		if a.Order.Target == protocol.TargetCd && v.Intent != nil {
			way, _ := t.cfg.Boot.MediaWay(v.Intent.ServerIntent) // without one there is no base
			r.Attempt.URI = way.Base + "/b/…/" + a.Order.File
		}
	}
	if f := rec.Owners.Firmware; f != nil && f.OwnerUID == r.OwnerUID {
		r.Firmware = f
	}
	r.Awaits = decide.Awaits(rec, p.Watch, v.Holds, settings(v.Rack))
	r.Holds = t.describeHolds(v, p)
	for _, q := range rec.Requests {
		r.Requests = append(r.Requests, resource.RequestReport{ID: q.ID, Outcome: q.Outcome, At: q.EndedAt, Reason: q.Reason})
	}
	if p := provisionedOf(v, rec); p != nil {
		r.Provisioned = t.seal(wire.FactProvisioned, p)
	}
	return r
}

// tpm is the TPM that is enrolled for the server. Of one that cannot be read, the last report stands.
func (t *teller) tpm(rec decide.Record, intent *message.ServerIntent) *resource.TPMReport {
	if intent == nil {
		return nil
	}
	is, found, err := t.cfg.Store.TPMs.Of(t.server)
	if err != nil {
		last, _, _ := t.cfg.Reports.Of(t.server)
		return last.TPM
	}
	if !found || is.ServerUID != intent.UID {
		return nil
	}
	k := rec.Identity
	return is.Report(k == nil || k.Other != nil || !is.Of(intent.UID, k.Trusted))
}

// withTPM adds that another TPM was offered, unless the board is another one too.
func withTPM(conditions []resource.ConditionState, is *resource.TPMReport) []resource.ConditionState {
	if is == nil || is.Void || is.Other == nil || slices.ContainsFunc(conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondIdentityChanged }) {
		return conditions
	}
	return append(slices.Clone(conditions), resource.ConditionState{
		Code: resource.CondIdentityChanged, Since: is.Other.At,
		Message: fmt.Sprintf("%s: %s was offered, %s is enrolled", resource.CodeOtherTPM, is.Other.Endorsement, is.Endorsement),
	})
}

// provisionedOf is the record of the owner's configuration, or else the newest.
func provisionedOf(v store.View, rec decide.Record) *resource.Provisioned {
	if in := v.Intent; in != nil && in.Boot != nil {
		if p := rec.ProvisionedFor(in.Boot.Owner.UID, in.Boot.Generation); p != nil {
			return p
		}
	}
	return rec.Owners.Provisioned
}

// describeHolds is how far the holds have come that lie, and those that ended here.
// Only a proof makes a word Fenced; an operator's word is a receipt without it.
func (t *teller) describeHolds(v store.View, p decide.Plan) (out []resource.HoldReport) {
	rec := p.Record
	var work *resource.FirmwareWork
	if v.Intent != nil {
		work = v.Intent.Firmware
	}
	for _, h := range v.Holds {
		hr := resource.HoldReport{ID: h.ID, Word: resource.HoldEnforced, EnforcedAt: h.EnforcedAt, Mode: h.Mode, Withheld: h.Withheld != "", ExpiredAt: when(rec.Holds.Terms[h.ID].ExpiredAt)}
		hr.State, hr.Reason = decide.HoldStands(h, rec, p.Watch, work, settings(v.Rack).SettleWindow)
		if h.Missing || h.Local {
			hr.Hold = &h.ActiveHold
		}
		rc, proved := rec.Holds.Receipts[h.ID]
		manual := false
		if proved {
			hr.Word = resource.HoldFenced
		} else {
			rc, manual = rec.Holds.Manual[h.ID]
		}
		if proved || manual {
			rc.Agent = t.cfg.Agent
			hr.Receipt = t.seal(wire.FactReceipt, rc)
		}
		out = append(out, hr)
	}
	for _, d := range v.Released {
		out = append(out, resource.HoldReport{ID: d.HoldID, Word: resource.HoldReleased, Released: &d})
	}
	return out
}

// seal signs a fact. The same fact gives the same bytes, so it need not be kept.
func (t *teller) seal(fact string, v any) []byte {
	b, err := wire.Seal(t.cfg.Signer, fact, v)
	if err != nil {
		t.log.Error("cannot sign", "fact", fact, "err", err)
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
