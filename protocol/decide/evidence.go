package decide

import (
	"fmt"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// mismatchWindow is how long after a power-on a network request is laid to it.
const mismatchWindow = consumeTimeout

// evidence folds what boot clients were seen to do.
func (p *step) evidence(e Event) {
	a := p.rec.Attempt
	switch {
	case e.Medium != "":
		p.cached(e)
	case e.UserData != "" || e.Kind == protocol.EvidenceFetched && e.File == protocol.FileIgnition:
		p.userData(e)
	case e.Asks:
		p.asks(e.At, protocol.ByHTTP)
	case e.StopImage:
		p.watch.Image = e.At
	case e.Kind == protocol.EvidenceDHCP && e.Class == protocol.ClassNone:
		p.watch.Heard = e.At
	case e.Begun:
		if accepting(a, e.Token) && !a.Served {
			a.Served = true
			p.dirty = true
		}
	case e.Kind == protocol.EvidenceDHCP:
		p.dhcpSeen(e)
	case e.Kind == protocol.EvidenceFetched && a != nil && a.Chain != nil && !a.Chain.IsLast(e.File):
		// A loader, or the kernel without its initramfs: nothing can have been installed.
	case e.Kind == protocol.EvidenceFetched:
		if late(a, e.Token) {
			// The last byte left while the attempt was being ended: the installer may
			// run, so the grant is spent.
			a.Evidence = protocol.EvidenceFetched
			p.spend("fetched as the attempt was ended: " + a.Reason)
			return
		}
		if !accepting(a, e.Token) || a.State == resource.AttemptFetched {
			return
		}
		p.enter(resource.AttemptFetched)
		p.mark(&a.Marks.Fetched, p.now, PartDHCPToFetched, a.Marks.Asked)
		p.rec.ran()
		a.Evidence = protocol.EvidenceFetched
		if a.Observed == "" {
			a.Observed = a.Intended // its path was in no other answer
		}
		p.happened(resource.EventFetched, "%s", a.last())
	case e.Kind == protocol.EvidenceFailed:
		p.imageFailed(e)
	case a != nil && takesKind(a.Purpose.Or(), a.Repeat, e.Kind):
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
	if a == nil || a.OnSent.IsZero() || e.At.Before(a.OnSent) || e.At.Sub(a.OnSent) > mismatchWindow || !p.lately(e.At) {
		p.asks(e.At, protocol.ByDHCP)
		return
	}
	if !a.Open() && p.rec.Power != protocol.PowerOn {
		return // whoever asks for a server that is Off again, it is not what the attempt started
	}
	ordered := method == a.Intended || a.forDiscovery()
	if a.Open() && ordered {
		p.mark(&a.Marks.Asked, e.At, PartPowerToDHCP, a.OnSent)
	}
	if a.State == resource.AttemptPowerRequested && ordered {
		p.enter(resource.AttemptConsumed)
		p.happened(resource.EventConsumed, "a %s request came", method)
	}
	if a.Observed == method || a.Observed == a.Intended && a.Network() {
		return
	}
	a.Observed = method
	p.dirty = true
	p.happened(resource.EventDHCPSeen, "%s", e.Class)
	if a.mismatched() {
		p.plan.Measured.Mismatches = append(p.plan.Measured.Mismatches, Mismatch{a.Intended, method})
		p.happened(resource.EventMismatch, "%s was ordered, firmware used %s", a.Intended, method)
	}
}

// late says whether the token is of a network boot that was ended.
func late(a *Attempt, token string) bool {
	return a != nil && token != "" && a.Token == token && a.Network() && a.State == resource.AttemptFailed
}

// TakesReport says whether an installed report with the token is believed. One
// of an attempt that was ended after its file was fetched is: it says what
// happened. A repeated report of a success is accepted and changes nothing.
func TakesReport(a *Attempt, token string) bool {
	switch {
	case a == nil || token == "" || a.Token != token || !a.Network() || !a.Served && (!a.Cached || a.OnSent.IsZero()):
		return false
	case a.State == resource.AttemptSucceeded:
		return true
	case late(a, token):
		return a.Evidence == protocol.EvidenceFetched
	}
	return accepting(a, token)
}

// installed takes the report that ends a network boot. It is the evidence that
// makes a server provisioned; Fetched or a running installer never is.
func (p *step) installed(e Event) {
	a := p.rec.Attempt
	if p.snap.Intent == nil || !TakesReport(a, e.Token) || a.State == resource.AttemptSucceeded || a.Code == resource.AttemptImageFailed {
		return
	}
	a.Evidence = e.Kind
	a.Disarm = true // some firmware boots by an override for once and keeps it
	p.span(PartFetchToReport, a.Marks.Fetched, p.now)
	a.Code, a.Reason = "", "" // a late report of one that was ended
	p.enter(resource.AttemptSucceeded)
	p.watch.Backoff, p.watch.NextTry = 0, time.Time{}
	p.rec.Unexpected = nil // whatever it was, it ended well
	p.bootedWell()
	if a.forDiscovery() {
		if a.Observed == "" {
			a.Observed = a.Intended
		}
		p.happened(resource.EventDiscovery, "the inventory has come, attempt %d; firmware booted by %s", a.Number, a.Observed)
		return // nothing is installed, and nothing of it outlives the discovery
	}
	p.rec.provision(resource.Provisioned{
		OwnerUID: a.OwnerUID, Generation: a.Generation, Server: p.snap.Server, ServerUID: p.snap.Intent.UID,
		ImageDigest: a.Digest, Evidence: e.Kind, At: e.At, Attempt: a.ID,
	})
	p.spend(string(e.Kind))
	text := fmt.Sprintf("%s, attempt %d", e.Kind, a.Number)
	if words := said(e); words != "" {
		text += ": " + words // such as which disks were discarded
	}
	p.happened(resource.EventInstalled, "%s", text)
	p.happened(resource.EventProvisioned, "%s", a.Digest)
}

// maxImageReason bounds an image's message in events and in the reason of an attempt, in
// bytes.
const maxImageReason = 256

// said is the message of an image's report, on one line.
func said(e Event) string {
	words := strings.Join(strings.Fields(e.Message), " ")
	if len(words) > maxImageReason {
		words = strings.ToValidUTF8(words[:maxImageReason], "")
	}
	return words
}

// imageFailed takes the report of an image that could not do what it was booted for. It
// ends the attempt. The image ran, so that a grant for one boot is spent: nothing is
// booted from the network again by itself but a discovery.
func (p *step) imageFailed(e Event) {
	a := p.rec.Attempt
	if !accepting(a, e.Token) || !TakesReport(a, e.Token) {
		return
	}
	words := said(e)
	if words == "" {
		words = "it gave no message"
	}
	a.Evidence = protocol.EvidenceFailed
	p.fail("the image reported that it failed: "+words, resource.AttemptImageFailed)
	p.spend(a.Reason)
}
