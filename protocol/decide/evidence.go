package decide

import (
	"time"

	"rackboot/protocol"
)

// mismatchWindow is how long after a power-on a network request is laid to it.
const mismatchWindow = consumeTimeout

// evidence folds what boot clients were seen to do.
func (p *step) evidence(e Event) {
	a := p.rec.Attempt
	switch {
	case e.Begun:
		if accepting(a, e.Token) && !a.Served {
			a.Served = true
			p.dirty = true
		}
	case e.Kind == protocol.EvidenceDHCP:
		p.dhcpSeen(e)
	case e.Kind == protocol.EvidenceFetched:
		if late(a, e.Token) {
			// The last byte left while the attempt was being ended: the installer may
			// run, so the grant is spent.
			a.Evidence = protocol.EvidenceFetched
			p.spend("fetched as the attempt was ended: " + a.Reason)
			return
		}
		if !accepting(a, e.Token) || a.State == protocol.AttemptFetched {
			return
		}
		p.enter(protocol.AttemptFetched)
		a.Evidence = protocol.EvidenceFetched
		if a.Observed == "" {
			a.Observed = a.Intended // its path was in no other answer
		}
		p.happened(protocol.EventFetched, "%s", a.File)
	case e.Kind == protocol.EvidenceInstalled:
		p.installed(e)
	}
}

func (p *step) dhcpSeen(e Event) {
	a := p.rec.Attempt
	var method protocol.BootTarget
	switch e.Class {
	case protocol.ClassHTTPClient:
		method = protocol.TargetUefiHTTP
	case protocol.ClassPXEClient, protocol.ClassIPXE:
		method = protocol.TargetPxe
	default:
		return
	}
	if a == nil || a.OnSent.IsZero() || e.At.Before(a.OnSent) || e.At.Sub(a.OnSent) > mismatchWindow {
		return
	}
	if !a.Open() && p.rec.Power != protocol.PowerOn {
		return // whoever asks for a server that is Off again, it is not what the attempt started
	}
	if a.State == protocol.AttemptPowerRequested && method == a.Intended {
		p.enter(protocol.AttemptConsumed)
		p.happened(protocol.EventConsumed, "a %s request came", method)
	}
	if a.Observed == method || a.Observed == a.Intended && a.Network() {
		return
	}
	a.Observed = method
	p.dirty = true
	p.happened(protocol.EventDHCPSeen, "%s", e.Class)
	if method != a.Intended {
		p.happened(protocol.EventMismatch, "%s was ordered, firmware used %s", a.Intended, method)
	}
}

// late says whether the token is of a network boot that was ended.
func late(a *Attempt, token string) bool {
	return a != nil && token != "" && a.Token == token && a.Network() && a.State == protocol.AttemptFailed
}

// TakesReport says whether an installed report with the token is believed. One
// of an attempt that was ended after its file was fetched is: it says what
// happened. A repeated report of a success is accepted and changes nothing.
func TakesReport(a *Attempt, token string) bool {
	switch {
	case a == nil || token == "" || a.Token != token || !a.Network() || !a.Served:
		return false
	case a.State == protocol.AttemptSucceeded:
		return true
	case late(a, token):
		return a.Evidence == protocol.EvidenceFetched
	}
	return accepting(a, token)
}

// installed takes the report that ends a first boot. It is the evidence that
// makes a server provisioned; Fetched or a running installer never is.
func (p *step) installed(e Event) {
	a := p.rec.Attempt
	if p.snap.Intent == nil || !TakesReport(a, e.Token) || a.State == protocol.AttemptSucceeded {
		return
	}
	a.Evidence = protocol.EvidenceInstalled
	a.Disarm = true // some firmware boots by an override for once and keeps it
	p.enter(protocol.AttemptSucceeded)
	p.watch.Backoff, p.watch.NextTry = 0, time.Time{}
	p.rec.Unexpected = nil // whatever it was, it ended well
	p.rec.Provisioned = &protocol.Provisioned{
		ClaimUID: a.ClaimUID, Generation: a.Generation, Server: p.snap.Server, ServerUID: p.snap.Intent.UID,
		ImageDigest: a.Digest, Evidence: protocol.EvidenceInstalled, At: e.At, Attempt: a.ID,
	}
	p.spend("installed")
	p.happened(protocol.EventInstalled, "attempt %d", a.Number)
	p.happened(protocol.EventProvisioned, "%s", a.Digest)
}
