package decide

import (
	"cmp"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// byURI makes the owner boot by a URL in its BMC, before anything was booted.
func (w *world) byURI() {
	w.want(func(in *message.ServerIntent) {
		b := *in.Boot
		b.Reach = resource.ReachURI
		in.Boot = &b
	})
}

// observed makes the owner want observed evidence, of a server with some ways through its BMC.
func (w *world) observed(p Private) {
	w.private = p
	w.want(func(in *message.ServerIntent) {
		b := *in.Boot
		b.RequireEvidence = resource.EvidenceObserved
		in.Boot = &b
	})
}

// uriBoot is firmware that loads what its BMC says, and asks nobody by DHCP. A URL whose
// boot has ended opens nothing.
func (w *world) uriBoot() (time.Duration, bool) {
	a := w.record().Attempt
	if a == nil || !MayFetch(len(w.holds) > 0, false, a, w.m.uri, a.Order.File) {
		return 0, false
	}
	w.w.served(protocol.BootAnswer{Action: protocol.AnswerBoot})
	w.w.uriBoots++
	return w.load(w.m.uri)
}

// url checks what is done with a URL in the BMC: it goes in with the override of its attempt,
// on disk before it is sent, and out when firmware has done with it.
func (x *witness) url(s Snapshot, p Plan) {
	a, u := p.Record.Attempt, p.Record.Residue.URL()
	switch k := p.Action.Kind; {
	case k == ActArm && p.Action.URI:
		if !a.ByURL() || p.Action.Override.Target != protocol.TargetUefiHTTP || u == nil || u.Attempt != a.ID || u.Token != cmp.Or(a.Private, a.Token) {
			x.t.Fatalf("P12: a URL is sent of which the record says %+v, for %+v", u, a)
		}
		if disk := x.world.record().Residue.URL(); !p.Persist && (disk == nil || *disk != *u) {
			x.t.Fatal("P9: a URL without its intent on disk")
		}
	case k == ActArm && a.ByURL() && a.Stage.State == resource.AttemptPreparing:
		x.t.Fatalf("armed without the URL that nobody else tells: %+v", a)
	case k == ActClearURL:
		if u == nil || a.Open() && a.Stage.State != resource.AttemptFetched {
			x.t.Fatalf("P6: the URL %+v is cleared, and firmware may have taken nothing of %+v", u, a)
		}
		if o := p.Watch.Last; o.Power == protocol.PowerOn && a != nil && a.Stage.State == resource.AttemptFailed && a.Stage.Evidence == "" && o.Override.Armed() && o.Override.Target == a.Order.Target {
			x.t.Fatalf("P6: cleared while firmware may take the override of %+v", a)
		}
		if o := p.Watch.Last; o.Power != protocol.PowerOff && o.Power != protocol.PowerOn {
			x.t.Fatalf("cleared while the server is %s", o.Power)
		}
	}
	if was := s.Record.Residue.URL(); was != nil && u == nil && (s.Result == nil || s.Result.Action != ActClearURL || s.Result.Code != "") {
		x.t.Fatalf("the URL of %s is forgotten, and nobody has cleared it", was.Attempt)
	}
	if p.Record.Owners.Released != "" && s.Record.Owners.Released != p.Record.Owners.Released && u != nil && p.Watch.URL.Tries < urlTries && !p.Watch.URL.Pending && !discovering(s.Intent) {
		x.t.Fatalf("the claim %s has ended, and the BMC has its URL", p.Record.Owners.Released)
	}
}

// evidence checks the class of a new record: observed is what came by the private token, and
// nothing less counts where that is required. The way of the user data is the attempt's.
func (x *witness) evidence(s Snapshot, p resource.Provisioned) {
	private := s.Record.Attempt.Private
	observed := private != "" && slices.ContainsFunc(s.Events, func(e Event) bool { return e.Kind == p.Evidence && e.Token == private })
	if (p.Class == resource.EvidenceObserved) != observed {
		x.t.Fatalf("the record %+v came of %+v", p, s.Events)
	}
	if p.Secrets != s.Record.Attempt.Order.Secrets {
		x.t.Fatalf("the record %+v is of a boot whose user data went by %q", p, s.Record.Attempt.Order.Secrets)
	}
	if in := s.Intent; in != nil && in.Boot != nil && !p.Class.Meets(in.Boot.RequireEvidence) {
		x.t.Fatalf("the record %+v is not enough", p)
	}
	if observed {
		x.observed++
	}
}
