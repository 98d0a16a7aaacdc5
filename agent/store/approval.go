package store

import (
	"slices"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const (
	keyApproval = "approval/"
	keyForced   = "forced/"
	// keyFloor is the time before which no approval counts, whatever the clock says: an
	// approval that was forgotten does not come back on a clock that was set back.
	keyFloor = "meta/approval-floor"
)

// Approvals are those of destructive actions that were taken, and what they were used for.
type Approvals struct {
	disk   *disk
	events *Events
	guard  func() bool // nil is never
}

// guarded says whether a destructive key is known.
func (as *Approvals) guarded() bool { return as.guard != nil && as.guard() }

// floored is the time by which approvals are judged.
func floored(t state.Txn, now time.Time) (time.Time, error) {
	floor, _, err := get[time.Time](t, keyFloor)
	if floor.After(now) {
		return floor, err
	}
	return now, err
}

// Take keeps approvals whose signature was verified; ours says whether one is for
// this agent. When it returns, they count, and touched are the servers to look at.
// One that was taken before keeps what it was used for. refused is why the others are
// not taken, by id.
func (as *Approvals) Take(now time.Time, all []resource.Approval, ours func(resource.Approval) bool) (touched []string, refused map[string]decide.ApprovalAnswer, err error) {
	as.disk.crash.At("agent.approve.received")
	err = as.disk.update(func(t state.Txn) error {
		touched, refused = nil, map[string]decide.ApprovalAnswer{}
		at, err := floored(t, now)
		if err != nil {
			return err
		}
		have, err := as.forget(t, at)
		if err != nil {
			return err
		}
		for _, a := range all {
			if slices.ContainsFunc(have, func(h approved) bool { return h.ID == a.ID }) {
				continue
			}
			if answer := decide.JudgeApproval(at, ours(a), a); answer != decide.ApprovalTaken {
				refused[a.ID] = answer
				continue
			}
			if len(have) >= resource.MaxApprovals {
				refused[a.ID] = decide.ApprovalNoRoom
				continue
			}
			have = append(have, approved{Approval: a})
			if err := put(t, keyApproval+a.ID, approved{Approval: a}); err != nil {
				return err
			}
			if a.Class == resource.ApproveBulkStop || a.Class.OfBoots() {
				touched = append(touched, a.Targets...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, failing("keep an approval", err)
	}
	as.disk.crash.At("agent.approve.kept")
	return touched, refused, nil
}

// forget deletes those whose time is over, and returns the others. The floor
// rises to their end, so that none of them can be taken again.
func (as *Approvals) forget(t state.Txn, at time.Time) (keep []approved, err error) {
	have, err := scan[approved](t, keyApproval)
	if err != nil {
		return nil, err
	}
	floor, _, err := get[time.Time](t, keyFloor)
	if err != nil {
		return nil, err
	}
	rises := false
	for _, h := range have {
		if at.Before(h.NotAfter) {
			keep = append(keep, h)
			continue
		}
		if h.NotAfter.After(floor) {
			floor, rises = h.NotAfter, true
		}
		if err := t.Delete(keyApproval + h.ID); err != nil {
			return nil, err
		}
	}
	if rises {
		err = put(t, keyFloor, floor)
	}
	return keep, err
}

// standing are the approvals that count for a target: of the class, in their time, and
// not used for it.
func standing(t state.Txn, now time.Time, class resource.ApprovalClass, target string) ([]approved, error) {
	at, err := floored(t, now)
	if err != nil {
		return nil, err
	}
	all, err := scan[approved](t, keyApproval)
	return slices.DeleteFunc(all, func(a approved) bool {
		return a.Class != class || !slices.Contains(a.Targets, target) || slices.Contains(a.Spent, target) || !decide.ApprovalCounts(at, a.Approval)
	}), err
}

func spend(t state.Txn, a approved, target string) error {
	a.Spent = append(a.Spent, target)
	return put(t, keyApproval+a.ID, a)
}

// bulk is what bounds a ForceOff of the server now; Key and Bound are the caller's.
func (as *Approvals) bulk(t state.Txn, server string, v *View) (err error) {
	if v.bulk = as.guarded(); !v.bulk {
		return nil
	}
	if v.forced, err = scan[forced](t, keyForced); err != nil {
		return err
	}
	all, err := scan[approved](t, keyApproval)
	for _, a := range all {
		switch {
		case !slices.Contains(a.Targets, server) || slices.Contains(a.Spent, server):
		case a.Class == resource.ApproveBulkStop:
			v.approvals = append(v.approvals, a)
		case a.Class.OfBoots():
			v.boots = append(v.boots, a)
		}
	}
	if err != nil {
		return err
	}
	v.floor, _, err = get[time.Time](t, keyFloor)
	return err
}

// Forced is how many other servers were forced off within the window before now
// without an approval. One whose time lies as far ahead was noted by a clock that was
// set back since, and does not count.
func (v View) Forced(now time.Time, window time.Duration) (n int) {
	for _, f := range v.forced {
		if f.Server != v.Record.Server && now.Sub(f.At).Abs() < window {
			n++
		}
	}
	return n
}

// Approval is the id of an approval by which the server may be forced off now; empty
// if there is none.
func (v View) Approval(now time.Time) string {
	if now.Before(v.floor) {
		now = v.floor
	}
	for _, a := range v.approvals {
		if decide.ApprovalCounts(now, a.Approval) {
			return a.ID
		}
	}
	return ""
}

// Boots are the approvals of boots of the server that count now.
func (v View) Boots(now time.Time) (out []resource.Approval) {
	if now.Before(v.floor) {
		now = v.floor
	}
	for _, a := range v.boots {
		if decide.ApprovalCounts(now, a.Approval) {
			out = append(out, a.Approval)
		}
	}
	return out
}

// spendBoot notes the approval that a boot uses which is about to begin.
func spendBoot(t state.Txn, v View, id string) error {
	for _, a := range v.boots {
		if a.ID == id {
			return spend(t, a, v.Record.Server)
		}
	}
	return nil
}

// clear notes what a ForceOff took that is about to be sent.
func (as *Approvals) clear(t state.Txn, v View, c decide.Clearance) error {
	switch c.How {
	case decide.ClearCount:
		for _, f := range v.forced[:min(len(v.forced), deletesAtOnce)] {
			if c.At.Sub(f.At).Abs() >= c.Window {
				if err := t.Delete(keyForced + f.Server); err != nil {
					return err
				}
			}
		}
		return put(t, keyForced+v.Record.Server, forced{v.Record.Server, c.At})
	case decide.ClearSpend:
		for _, a := range v.approvals {
			if a.ID == c.Approval {
				return spend(t, a, v.Record.Server)
			}
		}
	case decide.ClearFree, decide.ClearWait:
	}
	return nil
}

// allowRelease says whether a release may end a hold, and uses the approval that it
// needs. why says who wants it where it may not.
func (as *Approvals) allowRelease(t state.Txn, now time.Time, h decide.Hold, r resource.Release) (why string, err error) {
	if !decide.ReleaseApproval(as.guarded(), h.ActiveHold, r) {
		return "", nil
	}
	approvals, err := standing(t, now, resource.ApproveHoldOverride, h.ID)
	if err != nil || len(approvals) == 0 {
		return "its release by " + r.By + " has no approval", err
	}
	if err := as.events.append(t, resource.Event{At: now, Server: h.Server, Code: resource.EventApproval, Message: "hold " + h.ID + " released by approval " + approvals[0].ID}); err != nil {
		return "", err
	}
	return "", spend(t, approvals[0], h.ID)
}

// ended are the holds of releases that do not lie any more.
func ended(t state.Txn, releases []resource.Release) (out []string, err error) {
	for _, r := range releases {
		_, lies, err := get[decide.Hold](t, keyHolds+r.Server+"/"+r.HoldID)
		if err != nil {
			return nil, err
		}
		if !lies {
			out = append(out, r.HoldID)
		}
	}
	return out, nil
}
