package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// byMedia makes the owner boot by virtual media, before anything was booted.
func (w *world) byMedia() {
	w.want(func(in *message.ServerIntent) {
		b := *in.Boot
		b.BootPolicy.FirstBoot = resource.FirstBootVirtualMedia
		in.Boot = &b
	})
	w.grant.FirstBoot = resource.FirstBootVirtualMedia
}

func isoChain() *protocol.BootChain {
	return &protocol.BootChain{Kind: protocol.ChainISO, First: protocol.FileISO, Last: protocol.FileISO, Files: []protocol.ChainFile{{Name: protocol.FileISO, Digest: "sha256:iso"}}}
}

// chain is what the server would boot through.
func (w *world) chain() *protocol.BootChain {
	if in := w.intent; in != nil && in.Boot != nil && in.Boot.BootPolicy.FirstBoot == resource.FirstBootVirtualMedia {
		return isoChain()
	}
	c := ukiChain()
	if w.loaders {
		c.Kind = protocol.ChainGRUB
	}
	return c
}

// last is the last file of the attempt.
func (w *world) last() string {
	if a := w.record().Attempt; a != nil && a.Order.Chain != nil {
		return a.Order.last()
	}
	return "boot.efi"
}

// mediaboot is firmware that boots the BMC's drive. A BMC that has the image reads nothing
// any more.
func (w *world) mediaboot() (time.Duration, bool) {
	rec := w.record()
	a := rec.Attempt
	if w.m.caches {
		w.lost = true
		if a != nil {
			w.w.token = a.Token
		}
		w.w.mediaServed(rec)
		return 2 * time.Second, true
	}
	if !MayReadMedium(len(w.holds) > 0, false, a, rec.Residue.Medium(), w.m.medium) {
		return 0, false
	}
	w.w.mediaServed(rec)
	w.fold(Event{Begun: true, Token: a.Token, At: w.clock()})
	w.lost, w.w.token = false, a.Token
	return 2 * time.Second, true
}

func (w *world) cachedMedium(token string) {
	w.events = append(w.events, Event{Medium: MediumWhole, Token: token, At: w.clock()})
	w.poke()
}

// mediaServed checks a medium that firmware boots.
func (x *witness) mediaServed(rec Record) {
	a := rec.Attempt
	if len(x.world.holds) > 0 && x.world.m.power != protocol.PowerOn {
		x.t.Fatal("P2: a held server was booted")
	}
	if a.Open() && a.Network() && a.Order.Target == protocol.TargetCd && rec.Residue.Medium() != nil && rec.Residue.Medium().Token == x.world.m.medium {
		if use := rec.Owners.Used[a.Order.OwnerUID+"/1"]; use.Attempts < 1 && !use.Ran {
			x.t.Fatalf("P4: booted outside a granted attempt: %+v", a)
		}
	}
}

// media checks what is done to the drives: the image before the override, and never out
// before its end.
func (x *witness) media(s Snapshot, p Plan) {
	a, m := p.Record.Attempt, p.Record.Residue.Medium()
	if k := p.Action.Kind; s.Private.Diverted != "" && (k == ActInsert || k == ActArm || k == ActOn || k == ActRestart) &&
		a.Open() && a.Order.Through == ThroughMedium && a.Order.Target != protocol.TargetCd && a.Stage.State != resource.AttemptFetched {
		x.t.Fatalf("%s, where the server may be given another file, for %+v", k, a)
	}
	switch p.Action.Kind {
	case ActInsert:
		if len(s.Holds) > 0 || !a.Open() || a.Stage.State != resource.AttemptPreparing || a.Order.Target != protocol.TargetCd && a.Order.Through != ThroughMedium ||
			p.Watch.Last.Power != protocol.PowerOff || m == nil || m.Attempt != a.ID || m.State != MediumInserting {
			x.t.Fatalf("P6: inserted outside an attempt: %+v for %+v", m, a)
		}
		if disk := x.world.record().Residue.Medium(); !p.Persist && (disk == nil || *disk != *m) {
			x.t.Fatal("P9: inserted without its intent on disk")
		}
		x.grant(s, p)
	case ActEject:
		if a.Open() && a.ID == m.Attempt {
			x.t.Fatalf("P6: ejected before the end of %+v", a)
		}
		if a != nil && a.ID == m.Attempt && a.Stage.State == resource.AttemptSucceeded && a.Order.Repeat && p.Watch.Last.Power == protocol.PowerOn &&
			s.Intent != nil && s.Intent.Owner.UID == a.Order.OwnerUID {
			x.t.Fatal("ejected while the system runs from it")
		}
	default:
		if o := p.Action.Override; p.Action.Kind == ActArm && o.Target == protocol.TargetCd && (m == nil || m.State != MediumIn || m.Attempt != a.ID) {
			x.t.Fatalf("P6: armed before the medium was in: %+v", m)
		}
	}
}
