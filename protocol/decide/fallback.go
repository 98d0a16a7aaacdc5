package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Fallback counts the failed network boots of a configuration that names the one before.
// It is kept until that configuration is booted well, or there is a newer one.
type Fallback struct {
	OwnerUID   string `json:"ownerUID"`
	Generation uint64 `json:"generation"`
	Failed     int    `json:"failed"`
	// Since is when the server fell back; zero while it has not.
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"` // of the last failure
	// Again lets the next boot go without an order of its own.
	Again bool `json:"again,omitempty"`
}

// fell says whether the configuration is not booted any more.
func (f *Fallback) fell(b *message.BootIntent) bool {
	return f != nil && !f.Since.IsZero() && f.OwnerUID == b.Owner.UID && f.Generation == b.Generation
}

// InForce is an intent with what the server boots now: what the hub says, or, once that
// has failed often enough, what was booted before. Nothing is changed in place.
func InForce(in message.ServerIntent, r *Record) message.ServerIntent {
	if b := in.Boot; b != nil && b.Fallback != nil && r.Fallback.fell(b) {
		in.Boot = b.Former()
	}
	return in
}

// countRule says whether the end of a network boot is laid to its image. fetched is that
// the image's last file had gone out. The first row that fits decides.
//
//	code        | fetched | counts
//	ImageFailed | *       | yes
//	NoReport    | *       | yes
//	FetchFailed | *       | yes
//	Interrupted | yes     | yes
//	*           | *       | no
//
// What ends before firmware has asked says nothing of the image: the boot before it would
// end alike.
func countRule(code resource.AttemptCode, fetched bool) bool {
	switch code {
	case resource.AttemptImageFailed, resource.AttemptNoReport, resource.AttemptFetchFailed:
		return true
	case resource.AttemptInterrupted:
		return fetched
	default:
		return false
	}
}

// countFailure counts the attempt that has just failed, and falls back with the last one
// that is allowed. Who set how many are has agreed that the server is booted again without
// another order, and stopped for it.
func (p *step) countFailure() {
	a, in := p.rec.Attempt, p.snap.Intent
	if in == nil || in.Boot == nil || in.Boot.Fallback == nil || !always(in.Boot) || !a.Network() ||
		a.OwnerUID != in.Boot.Owner.UID || a.Generation != in.Boot.Generation ||
		!countRule(a.Code, a.Evidence == protocol.EvidenceFetched || a.Evidence == protocol.EvidenceFailed) {
		return
	}
	f := p.rec.Fallback
	if f == nil || f.OwnerUID != a.OwnerUID || f.Generation != a.Generation {
		f = &Fallback{OwnerUID: a.OwnerUID, Generation: a.Generation}
	}
	f.Failed++
	f.Reason, f.Again, a.Cleanup = a.Reason, true, true
	if f.Failed >= in.Boot.Fallback.After {
		f.Since = p.now
		p.happened(resource.EventFellBack, "after %d failed boots of %s: boots %s again", f.Failed, in.Boot.Image.Reference, in.Boot.Fallback.Image.Reference)
		p.recheck(0)
	}
	p.rec.Fallback, p.dirty = f, true
}

// again lets a grant that repeats be used without another order, once for each failure
// that was counted.
func (p *step) again(b *message.BootIntent, use GrantUse) GrantUse {
	f := p.rec.Fallback
	if f == nil || !f.Again || f.OwnerUID != b.Owner.UID {
		return use
	}
	f.Again, p.dirty = false, true
	return GrantUse{Repeat: use.Repeat}
}

// forgetFallback ends the count where it is of no configuration that there is.
func (p *step) forgetFallback() {
	f, in := p.rec.Fallback, p.snap.Intent
	if f == nil || in == nil || in.Boot == nil || f.OwnerUID == in.Boot.Owner.UID && f.Generation >= in.Boot.Generation {
		return
	}
	p.rec.Fallback, p.dirty = nil, true
}

// bootedWell ends the count of a configuration that was booted.
func (p *step) bootedWell() {
	if f, a := p.rec.Fallback, p.rec.Attempt; f != nil && f.OwnerUID == a.OwnerUID && f.Generation == a.Generation {
		p.rec.Fallback, p.dirty = nil, true
	}
}

func (p *step) deriveFallback() {
	f, in := p.rec.Fallback, p.snap.Intent
	if f == nil || f.Since.IsZero() || in == nil || in.Boot == nil || in.Boot.Owner.UID != f.OwnerUID {
		return
	}
	p.raise(resource.CondFellBack, "after %d failed boots of configuration %d: %s", f.Failed, f.Generation, f.Reason)
}

// Report is what the hub is told.
func (f *Fallback) Report() *resource.FallbackReport {
	if f == nil {
		return nil
	}
	r := &resource.FallbackReport{Generation: f.Generation, Failed: f.Failed, Reason: f.Reason}
	if !f.Since.IsZero() {
		since := f.Since
		r.Since = &since
	}
	return r
}
