package decide

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// heard folds what boot clients and images were seen to do.
type heard struct {
	d *draft
	s *Snapshot
}

func (he heard) attempts() attempts { return attempts(he) }

func (he heard) fallbacks() fallbacks { return fallbacksOf(he.d, he.s) }

func (he heard) sightings() sightings { return sightings(he) }

// evidence folds what boot clients were seen to do.
func (he heard) evidence(e Event) {
	a := he.d.rec.Attempt
	switch {
	case e.Medium != "":
		he.cached(e)
	case e.UserData != "" || e.Kind == protocol.EvidenceFetched && e.File == protocol.FileIgnition:
		he.userData(e)
	case e.Claimed != "":
		he.claimed(e)
	case e.Report != "":
		he.unheeded(e)
	case e.Asks:
		he.sightings().asks(e.At, protocol.ByHTTP)
	case e.StopImage:
		he.d.watch.Image = e.At
	case e.Kind == protocol.EvidenceDHCP && e.Class == protocol.ClassNone:
		he.d.watch.Heard = e.At
	case e.Opened:
		if accepting(a, e.Token) && !a.Marks.Opened {
			a.Marks.Opened, he.d.dirty = true, true
		}
	case e.Begun:
		if accepting(a, e.Token) && !a.Marks.Served {
			a.Marks.Opened, a.Marks.Served = true, true
			he.d.dirty = true
		}
	case e.Kind == protocol.EvidenceDHCP:
		he.dhcpSeen(e)
	case e.Kind == protocol.EvidenceFetched && a != nil && a.Order.Chain != nil && !a.Order.Chain.IsLast(e.File):
		// A loader, or the kernel without its initramfs: nothing can have been installed.
		if accepting(a, e.Token) && !a.Marks.Loaded && a.Order.Chain.Begins(e.File) {
			a.Marks.Loaded, he.d.dirty = true, true
		}
	case e.Kind == protocol.EvidenceFetched:
		if late(a, e.Token) {
			// The last byte left while the attempt was being ended: the installer may
			// run, so the grant is spent.
			a.Stage.Evidence = protocol.EvidenceFetched
			he.attempts().spend("fetched as the attempt was ended: " + a.Stage.Ending.Reason)
			return
		}
		if !accepting(a, e.Token) || a.Stage.State == resource.AttemptFetched {
			return
		}
		he.attempts().enter(resource.AttemptFetched)
		he.d.mark(&a.Marks.Fetched, he.d.now, PartDHCPToFetched, a.Marks.Asked)
		he.d.rec.ran()
		a.Stage.Evidence = protocol.EvidenceFetched
		if a.Stage.Observed == "" && !a.Order.Any {
			a.Stage.Observed = a.Order.Target // its path was in no other answer
		}
		he.d.happened(resource.EventFetched, "%s", a.Order.last())
	case e.Kind == protocol.EvidenceFailed:
		he.imageFailed(e)
	case a != nil && takesKind(a.Order.Purpose.Or(), a.Order.Repeat, e.Kind):
		he.installed(e)
	}
}

func (he heard) dhcpSeen(e Event) {
	a := he.d.rec.Attempt
	method, boots := askedFor[e.Class]
	if !boots {
		return
	}
	if a == nil || a.Stage.PowerOn.Sent.IsZero() || e.At.Before(a.Stage.PowerOn.Sent) || e.At.Sub(a.Stage.PowerOn.Sent) > mismatchWindow || !he.d.rec.Orders().Explain(e.At) {
		he.sightings().asks(e.At, protocol.ByDHCP)
		return
	}
	if !a.Open() && he.d.rec.Shown.Power != protocol.PowerOn {
		return // whoever asks for a server that is Off again, it is not what the attempt started
	}
	if a.Order.Any && e.Class == protocol.ClassIPXE && a.Marks.Loaded {
		return // iPXE, which firmware loaded: by what is known already
	}
	ordered := a.takes(method) || a.forDiscovery()
	if a.Open() && ordered {
		he.d.mark(&a.Marks.Asked, e.At, PartPowerToDHCP, a.Stage.PowerOn.Sent)
	}
	if a.Stage.State == resource.AttemptPowerRequested && ordered {
		he.attempts().enter(resource.AttemptConsumed)
		he.d.happened(resource.EventConsumed, "a %s request came", method)
	}
	if a.Stage.Observed == method || a.Stage.Observed == a.Order.Target && a.Network() && !a.Order.Any {
		return
	}
	a.Stage.Observed = method
	he.d.dirty = true
	he.d.happened(resource.EventDHCPSeen, "%s", e.Class)
	switch {
	case a.mismatched():
		he.d.plan.Measured.Mismatches = append(he.d.plan.Measured.Mismatches, Mismatch{a.Order.Target, method})
		he.d.happened(resource.EventMismatch, "%s was ordered, firmware used %s", a.Order.Target, method)
	case a.Order.Any && method != a.Order.Target:
		he.d.plan.Measured.Mismatches = append(he.d.plan.Measured.Mismatches, Mismatch{a.Order.Target, method})
		he.d.happened(resource.EventMismatch, "%s was ordered, firmware used %s, as the boot policy permits", a.Order.Target, method)
	}
}

// installed takes the report that ends a network boot. It is the evidence that
// makes a server provisioned; Fetched or a running installer never is.
func (he heard) installed(e Event) {
	a := he.d.rec.Attempt
	if he.s.Intent == nil || !a.takesReport(e.Token) || a.Stage.State == resource.AttemptSucceeded || a.Stage.Ending.Code == resource.AttemptImageFailed {
		return
	}
	if he.weak(e) {
		return
	}
	a.Stage.Evidence, a.Stage.Class, a.Stage.Unattested = e.Kind, a.class(e), ""
	if a.forDiscovery() && a.Stage.Class != resource.EvidenceAttested {
		a.Stage.Unattested = e.Unattested
	}
	he.attempts().disarms() // some firmware boots by an override for once and keeps it
	he.d.span(PartFetchToReport, a.Marks.Fetched, he.d.now)
	he.d.rec.learns(a, he.d.now)
	a.Stage.Ending.Code, a.Stage.Ending.Reason = "", "" // a late report of one that was ended
	he.attempts().enter(resource.AttemptSucceeded)
	he.d.watch.Backoff, he.d.watch.NextTry = 0, time.Time{}
	he.d.explained() // whatever it was, it ended well
	he.fallbacks().end()
	if a.forDiscovery() {
		if a.Stage.Observed == "" {
			a.Stage.Observed = a.Order.Target
		}
		he.d.happened(resource.EventDiscovery, "the inventory has come, attempt %d; firmware booted by %s", a.Number, a.Stage.Observed)
		return // nothing is installed, and nothing of it outlives the discovery
	}
	he.d.rec.provision(resource.Provisioned{
		OwnerUID: a.Order.OwnerUID, Generation: a.Order.Generation, Server: he.d.server, ServerUID: he.s.Intent.UID,
		ImageDigest: a.Order.Digest, Evidence: e.Kind, At: e.At, Attempt: a.ID, Class: a.Stage.Class,
		Secrets: a.Order.Secrets,
	})
	he.attempts().spend(string(e.Kind))
	text := fmt.Sprintf("%s, attempt %d", e.Kind, a.Number)
	if words := said(e); words != "" {
		text += ": " + words // such as which disks were discarded
	}
	he.d.happened(resource.EventInstalled, "%s", text)
	he.d.happened(resource.EventProvisioned, "%s", a.Order.Digest)
}

// imageFailed takes the report of an image that could not do what it was booted for. It
// ends the attempt. The image ran, or its loader, so that a grant for one boot is spent:
// nothing is booted from the network again by itself but a discovery.
func (he heard) imageFailed(e Event) {
	a := he.d.rec.Attempt
	if !a.takesFailure(e.Token) || he.weak(e) {
		return
	}
	words := said(e)
	if words == "" {
		words = "it gave no message"
	}
	a.Stage.Evidence = protocol.EvidenceFailed
	he.attempts().fail("the image reported that it failed: "+words, resource.AttemptImageFailed)
	he.attempts().spend(a.Stage.Ending.Reason)
}

// userData folds what happened to user data. A refusal is an event once for each reason
// and attempt, so that nobody fills the disk by asking.
func (he heard) userData(e Event) {
	a := he.d.rec.Attempt
	if !a.knows(e.Token) || a.Order.Ignition == nil {
		return
	}
	switch e.UserData {
	case IgnitionGive:
		if !a.Marks.Given {
			a.Marks.Given, he.d.dirty = true, true
		}
	case IgnitionOver, IgnitionStranger, IgnitionEarly, IgnitionDisputed, IgnitionOpenly:
		if slices.Contains(a.Marks.Refusals, e.UserData) {
			return
		}
		a.Marks.Refusals, he.d.dirty = append(a.Marks.Refusals, e.UserData), true
		he.d.happened(resource.EventUserDataRefused, "%s", refusedFor[e.UserData])
	case IgnitionClosed:
	default: // its last byte was sent
		a.Marks.Deliveries++
		he.d.dirty = true
		if a.Marks.Deliveries == 1 {
			he.d.happened(resource.EventUserDataDelivered, "version %d of secret %s", a.Order.Ignition.Version, a.Order.Ignition.Secret)
		}
	}
}

// refusedFor says why user data was refused.
var refusedFor = map[IgnitionVerdict]string{
	IgnitionOver:     "asked for after the installation was reported",
	IgnitionStranger: "asked for from an address that is not the server's",
	IgnitionEarly:    "asked for before a kernel was sent that could ask",
	IgnitionDisputed: "another machine says that it is the server too",
	IgnitionOpenly:   "asked for over the boot segment, and it goes through the BMC only",
}

// cached notes that a BMC has all of a medium before the server is powered on: it needs
// not read it again, so that reads are no evidence.
func (he heard) cached(e Event) {
	a, m := he.d.rec.Attempt, he.d.rec.Residue.Medium()
	if e.Medium == MediumWhole && a.Open() && m.Boots() && m.Attempt == a.ID && m.Token == e.Token && a.Stage.PowerOn.Sent.IsZero() && !a.Marks.Cached {
		a.Marks.Cached, he.d.dirty = true, true
	}
}

// unheeded notes why a report was not heeded: an event once for each reason and attempt, so
// that nobody fills the disk by reporting.
func (he heard) unheeded(e Event) {
	a := he.d.rec.Attempt
	if !a.knows(e.Token) || a.unheeded(e.Report) {
		return
	}
	why, told := unheededFor[e.Report]
	if !told {
		return
	}
	a.Marks.Unheeded, he.d.dirty = append(a.Marks.Unheeded, e.Report), true
	if e.Report == ReportUnattested {
		why = a.tooWeak() // with the code
	}
	he.d.happened(resource.EventReportRefused, "%s", why)
}

// unheededFor says why a report was not heeded.
var unheededFor = map[ReportVerdict]string{
	ReportEarly:    "it came before the image can have run",
	ReportStranger: "it came from an address that is not the server's",
	ReportDisputed: "another machine says that it is the server too",
	ReportWeak:     "it came over the boot segment, and observed evidence is required",

	ReportUnattested: "the server's TPM has not proved the boot, and attested evidence is required",
}

// claimed notes a boot client that says it is the server of the attempt.
func (he heard) claimed(e Event) {
	a := he.d.rec.Attempt
	if a == nil || !accepting(a, e.Token) || !a.Claimants.Note(e.Claimed, e.Claimant) {
		return
	}
	he.d.dirty = true
	if e.Claimed == ClaimedSecond || e.Claimed == ClaimedForeign {
		he.d.happened(resource.EventTwoClaimants, "%s", a.Claimants.words())
	}
}
