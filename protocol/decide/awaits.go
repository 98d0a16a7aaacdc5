package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// awaitFacts is what a server may wait for.
type awaitFacts struct {
	stop    halting               // a stop under way
	settles bool                  // it reads Off, and a hold or an end waits for that to last
	line    bool                  // other servers are switched on before it
	attempt resource.AttemptState // of the newest attempt; empty without one
	off     bool
	network bool // the attempt boots from the network
	medium  bool // from a drive of the BMC
	inserts bool // and the image is not in it yet
	asked   bool // firmware asked for an address, or has the URL from its BMC
	pause   bool // the next attempt has to wait
}

// awaitRule says what a server waits for that has a time of its own. What waits for people, for the
// hub or for files is said by conditions. The first row that fits decides.
//
//	stop   | settles | line | attempt        | off | net | medium | inserts | asked | pause | waits for
//	soft   | *       | *    | *              | *   | *   | *      | *       | *     | *     | shutdown
//	forced | *       | *    | *              | *   | *   | *      | *       | *     | *     | off
//	none   | yes     | *    | *              | *   | *   | *      | *       | *     | *     | settled
//	none   | no      | yes  | *              | *   | *   | *      | *       | *     | *     | inrush
//	none   | no      | no   | Preparing      | *   | *   | yes    | yes     | *     | *     | medium
//	none   | no      | no   | Preparing      | *   | *   | *      | *       | *     | *     | override
//	none   | no      | no   | Armed          | *   | *   | *      | *       | *     | *     | power-on
//	none   | no      | no   | PowerRequested | yes | *   | *      | *       | *     | *     | power-on
//	none   | no      | no   | PowerRequested | no  | *   | *      | *       | *     | *     | firmware
//	none   | no      | no   | Consumed       | *   | yes | yes    | *       | *     | *     | media-read
//	none   | no      | no   | Consumed       | *   | yes | no     | *       | no    | *     | dhcp
//	none   | no      | no   | Consumed       | *   | yes | no     | *       | yes   | *     | boot-file
//	none   | no      | no   | Fetched        | *   | *   | *      | *       | *     | *     | report
//	none   | no      | no   | Failed         | *   | *   | *      | *       | *     | yes   | next-try
//	none   | no      | no   | *              | *   | *   | *      | *       | *     | *     | nothing
func awaitRule(f awaitFacts) resource.WaitCode { return verdict(awaitRules, f) }

var awaitRules = []rule[awaitFacts, resource.WaitCode]{
	{"it was asked to shut down", func(f awaitFacts) bool { return f.stop == haltingSoft }, resource.WaitShutdown},
	{"it was forced off", func(f awaitFacts) bool { return f.stop == haltingForced }, resource.WaitOff},
	{"Off has to last", func(f awaitFacts) bool { return f.settles }, resource.WaitSettled},
	{"others are switched on first", func(f awaitFacts) bool { return f.line }, resource.WaitInrush},
	{"its image is not in the drive", func(f awaitFacts) bool { return f.attempt == resource.AttemptPreparing && f.medium && f.inserts }, resource.WaitMedium},
	{"its override is not stored", func(f awaitFacts) bool { return f.attempt == resource.AttemptPreparing }, resource.WaitOverride},
	{"it is about to be powered on", func(f awaitFacts) bool {
		return f.attempt == resource.AttemptArmed || f.attempt == resource.AttemptPowerRequested && f.off
	}, resource.WaitPowerOn},
	{"firmware starts", func(f awaitFacts) bool { return f.attempt == resource.AttemptPowerRequested }, resource.WaitFirmware},
	{"nothing of its image was read", func(f awaitFacts) bool { return f.attempt == resource.AttemptConsumed && f.network && f.medium }, resource.WaitMediaRead},
	{"firmware asked nobody", func(f awaitFacts) bool { return f.attempt == resource.AttemptConsumed && f.network && !f.asked }, resource.WaitDHCP},
	{"firmware has not fetched all", func(f awaitFacts) bool { return f.attempt == resource.AttemptConsumed && f.network }, resource.WaitBootFile},
	{"its image has not reported", func(f awaitFacts) bool { return f.attempt == resource.AttemptFetched }, resource.WaitReport},
	{"its next attempt has a pause before it", func(f awaitFacts) bool { return f.attempt == resource.AttemptFailed && f.pause }, resource.WaitAgain},
	{"nothing", func(awaitFacts) bool { return true }, ""},
}

// Awaits is what a server waits for by the record and the reads of a plan, since when and until when;
// nil is nothing that has a time of its own.
func Awaits(r Record, w Watch, holds []Hold, in Settings) *resource.Wait {
	now, a := w.Last.ReadAt, r.Attempt
	pr, settles := settling(w, r, holds, in.SettleWindow)
	f := awaitFacts{stop: haltingNone, settles: settles, line: !w.Line.Since.IsZero(), off: w.Last.Power == protocol.PowerOff}
	if st := r.Stop; st != nil && !f.off && !st.Waits {
		if f.stop = haltingSoft; !st.Forced.IsZero() {
			f.stop = haltingForced
		}
	}
	if a != nil {
		m := r.Residue.Medium()
		f.attempt, f.network, f.medium = a.Stage.State, a.Network(), byMedium(a.Order.Target)
		f.inserts, f.asked, f.pause = m == nil || m.State == MediumInserting, askedOf(a) != askedNot, now.Before(w.NextTry)
	}
	out := &resource.Wait{For: awaitRule(f)}
	until := func(t time.Time) {
		if !t.IsZero() {
			out.Until = &t
		}
	}
	switch out.For {
	case "":
		return nil
	case resource.WaitShutdown:
		_, soft := holdsMode(holds, false, in.SoftTimeout)
		if soft == 0 {
			soft = in.SoftTimeout
		}
		out.Since = r.Stop.Since
		until(r.Stop.Since.Add(soft))
	case resource.WaitOff:
		out.Since = r.Stop.Forced // it is sent again for ever
	case resource.WaitSettled:
		out.Since = pr.First
		until(pr.First.Add(in.SettleWindow))
	case resource.WaitInrush:
		out.Since = w.Line.Since
		until(w.Line.Until)
	case resource.WaitAgain:
		out.Since = a.Stage.Since
		until(w.NextTry)
	default:
		out.Since = a.Stage.Since
		until(a.until(a.powerOf(w.Last.Power)))
	}
	if out.For == resource.WaitReport {
		out.Report = a.report()
	}
	return out
}

// settling is the proof that a hold or an end waits for, which is not complete.
func settling(w Watch, r Record, holds []Hold, settle time.Duration) (Proof, bool) {
	open := func(key string) (Proof, bool) {
		pr := w.Proofs[key]
		return pr, pr.Reads > 0 && !pr.proven(settle) && w.Last.Power == protocol.PowerOff
	}
	for _, h := range holds {
		if r.proof(h.ID) == proofReads {
			continue
		}
		if pr, is := open(h.ID); is {
			return pr, true
		}
	}
	return open(releaseProof)
}

// report is the report that ends the attempt well.
func (a *Attempt) report() protocol.EvidenceKind {
	switch {
	case a.forDiscovery():
		return protocol.EvidenceDiscovered
	case a.Order.Repeat:
		return protocol.EvidenceBooted
	}
	return protocol.EvidenceInstalled
}
