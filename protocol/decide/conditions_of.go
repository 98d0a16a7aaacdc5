package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func (co conditions) url() {
	if w := co.d.watch.URL; co.d.rec.Residue.URL() != nil && w.Tries > 0 {
		co.d.raise(resource.CondBootURLNotCleared, "%s", w.Why)
	}
}

// approval says what waits for an approval.
func (co conditions) approval() {
	if st := co.d.rec.Stop; st != nil && st.Waits {
		co.d.raise(resource.CondApprovalNeeded, "%d other servers were forced off within the window, and %d may be without an approval", co.s.Bulk.Others, co.s.Bulk.Bound)
	}
	for _, h := range co.d.holds {
		if h.Withheld != "" {
			co.d.raise(resource.CondReleaseNotApproved, "hold %s by %s: %s", h.ID, h.Owner, h.Withheld)
		}
	}
}

// left says what stays armed.
func (co conditions) left() {
	if l := co.d.rec.Residue.Kept(); l != nil {
		co.d.raise(resource.CondOverrideLeft, "%s %s, since %s: %s", l.Override.Target, l.Override.Enabled, l.Since.UTC().Format(time.RFC3339), l.Fault.Words())
	}
}

// discovery says that a discovery is given up, or what it waits for.
func (co conditions) discovery() {
	in, a := co.s.Intent, co.d.rec.Attempt
	if !discovering(in) || in.Boot == nil || a.Open() || co.s.Grant == nil || co.d.rec.discovered(in.Owner.UID) {
		return
	}
	use := co.d.rec.Owners.Used[grantKey(in.Boot)]
	if use.Attempts < co.s.Grant.MaxAttempts {
		return
	}
	code, reason := resource.AttemptOutcomeUnknown, "its record is lost"
	if a != nil && a.Order.OwnerUID == in.Owner.UID {
		code, reason = a.Stage.Ending.Code, a.Stage.Ending.Reason
	}
	co.d.raise(resource.CondDiscoveryFailed, "%d of %d attempts; the last: %s: %s", use.Attempts, co.s.Grant.MaxAttempts, code, reason)
}

// firmware says which settings are not in force that its owner wanted written.
func (co conditions) firmware() {
	if in, run := co.s.Intent, co.d.rec.Owners.Firmware; in != nil && run != nil && run.OwnerUID == in.Owner.UID && run.Stage == resource.FirmwareFailed {
		co.d.raise(resource.CondFirmwareNotWritten, "%s: %s", run.Code, strings.Join(unset(run), ", "))
	}
}

func (co conditions) fallback() {
	f, in := co.d.rec.Owners.Fallback, co.s.Intent
	if f == nil || f.Since.IsZero() || in == nil || in.Boot == nil || in.Boot.Owner.UID != f.OwnerUID {
		return
	}
	co.d.raise(resource.CondFellBack, "after %d failed boots of configuration %d: %s", f.Failed, f.Generation, f.Reason)
}

// stop says what is wrong with the stop under way.
func (co conditions) stop() {
	st := co.d.rec.Stop
	if st == nil {
		return
	}
	power := co.d.watch.Last.Power
	if ignoredRule(power, st.Taken, co.d.now.Sub(st.Forced) >= resendForce) {
		co.d.raise(resource.CondForceOffIgnored, "%s, %d times since %s; the BMC shows %s", ActForceOff, st.ForceCount, st.Since.UTC().Format(time.RFC3339), power)
	}
	if st.Blind > 0 && !co.d.watch.Unread.Since.IsZero() {
		co.d.raise(resource.CondForcedUnread, "%s, %d times: %s", ActForceOff, st.Blind, co.d.watch.Unread.Fault.Words())
	}
}

// guard says what is known to be in a guard's way.
func (co conditions) guard() {
	g, w := co.d.rec.Guard, co.d.watch.Guard
	switch {
	case len(co.d.holds) > 0 && g != nil && g.State == GuardCannot:
		co.d.raise(resource.CondRestorePolicy, "%s", g.Why)
	case w.Why != "" && w.Kind == ActUnguard && g != nil:
		co.d.raise(resource.CondRestorePolicy, "not put back to %s: %s", g.Before, w.Why)
	case w.Why != "":
		co.d.raise(resource.CondRestorePolicy, "%s", fmt.Sprintf("%s: %s", w.Kind, w.Why))
	}
}

func (co conditions) media() {
	a, m := co.d.rec.Attempt, co.d.rec.Residue.Medium()
	switch {
	case m == nil:
	case a.Open() && a.ID == m.Attempt && a.Stage.State == resource.AttemptPreparing && co.d.watch.Occupied != "":
		co.d.raise(resource.CondMediaOccupied, "%s", co.d.watch.Occupied)
	case a.Open() && a.ID == m.Attempt && m.State == MediumIn && !m.Config:
		co.d.raise(resource.CondNoConfigDrive, "")
	case m.State == MediumOut && co.d.watch.Eject.Tries > 0:
		co.d.raise(resource.CondMediaNotEjected, "%s", co.d.watch.Eject.Why)
	}
}

// refusals says what the BMC refuses now.
func (co conditions) refusals() {
	if len(co.d.watch.Refused) == 0 {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(co.d.watch.Refused)) {
		r := co.d.watch.Refused[k]
		code := faultCondition(r.Fault.Kind)
		switch {
		case code != conditionNone:
		case r.Busy:
			code = resource.CondBMCBusy
		default:
			code = resource.CondPowerFailed
		}
		co.d.raise(code, "%s: %s", k, r.Message)
	}
}

// unexpected says what is not as ordered.
func (co conditions) unexpected() {
	u := co.d.rec.Unexpected
	switch {
	case u == nil:
	case u.To == protocol.PowerOff:
		co.d.raise(resource.CondUnexpectedPower, "went %s", u.To)
	case u.Stands == protocol.StandsStopped:
		co.d.raise(resource.CondSafeStopped, "stopped: %s", u.Why)
	case u.Stands == protocol.StandsBelieved:
		co.d.raise(resource.CondSafeStopped, "believed stopped: %s", u.Why)
	case u.Stands == protocol.StandsRuns:
		co.d.raise(resource.CondUnexpectedPower, "went %s and probably runs: %s", u.To, u.Why)
	default:
		co.d.raise(resource.CondUnexpectedPower, "went %s; where it stands is not known yet", u.To)
	}
}

// disputed says while the attempt is the server's last that another machine said it is the
// server. Of one that ended well that is news for disputedFor.
func (co conditions) disputed() {
	a := co.d.rec.Attempted(co.s.Intent)
	words := ""
	if a != nil {
		words = a.Claimants.words()
	}
	if words == "" || a.Stage.State == resource.AttemptSucceeded && co.d.now.Sub(a.Stage.Since) >= disputedFor {
		return
	}
	co.d.raise(resource.CondTwoClaimants, "%s", words)
	if a.Stage.State == resource.AttemptSucceeded {
		co.d.recheckAt(a.Stage.Since.Add(disputedFor))
	}
}

// weak says while a boot waits for a report of a stronger class that a weaker one came.
func (co conditions) weak() {
	a := co.d.rec.Attempted(co.s.Intent)
	if a == nil || a.Stage.State == resource.AttemptSucceeded {
		return
	}
	if why := a.tooWeak(); why != "" {
		co.d.raise(resource.CondEvidenceWeak, "%s", why)
	}
}

// disputedFor is how long it is said of a boot that ended well.
const disputedFor = time.Hour
