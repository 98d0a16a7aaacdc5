package plan

import (
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// life is one server with its agent's record and a BMC that does what it is told, under
// a fleet of which the rows change what is wanted.
type life struct {
	t     *testing.T
	f     Fleet
	rec   decide.Record
	watch decide.Watch
	echo  *resource.Provisioned
	power protocol.PowerState
	armed protocol.Override
	now   time.Time
	ids   int
}

func newLife(t *testing.T) *life {
	f := maintained()
	f.Claims, f.Configs = nil, nil
	return &life{
		t: t, f: f, rec: decide.Record{Server: "s1"}, power: protocol.PowerOff,
		now: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC),
	}
}

// claim binds a claim; its configuration is a claim's own, by UID.
func (l *life) claim(uid string) {
	c := &resource.Claim{Spec: resource.ClaimSpec{Power: resource.WantOn}, Status: resource.ClaimStatus{Server: "s1"}}
	c.Metadata.Name, c.Metadata.UID = "c1", uid
	c.Default()
	l.f.Claims = []*resource.Claim{c}
	l.configure(uid, resource.PurposeClaim, c.Spec.BootPolicy)
}

func (l *life) configure(uid string, p resource.Purpose, policy resource.BootPolicy) {
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:   "s1",
		Owner:    resource.Owner{Kind: p, UID: uid},
		BootSpec: resource.BootSpec{BootPolicy: policy, Image: resource.Image{Digest: "sha256:" + uid}},
	}}
	cfg.Metadata.Generation = 1
	l.f.Configs = append(l.f.Configs, cfg)
}

// unconfigure is the end of an owner whose server was proved Off.
func (l *life) unconfigure(uid string) {
	var left []*resource.BootConfiguration
	for _, c := range l.f.Configs {
		if c.Spec.Owner.UID != uid {
			left = append(left, c)
		}
	}
	l.f.Configs = left
}

// maintain gives the server to a maintenance that boots by UefiHttp.
func (l *life) maintain(name string) {
	m := maintenanceOf(name, 0, 0)
	m.Spec.Boot.BootPolicy.FirstBoot = resource.FirstBootUefiHTTP
	m.Status.State = resource.MaintenanceActive
	l.f.Maintenances = []*resource.Maintenance{m}
	l.configure(m.Metadata.UID, resource.PurposeMaintenance, m.Spec.Boot.BootPolicy)
}

// ends marks the owner as deleted and runs until the server was proved Off for it.
func (l *life) ends(uid string) {
	l.t.Helper()
	for _, c := range l.f.Claims {
		if c.Metadata.UID == uid {
			c.Metadata.DeletedAt = &l.now
		}
	}
	for _, m := range l.f.Maintenances {
		if m.Metadata.UID == uid {
			m.Metadata.DeletedAt = &l.now
		}
	}
	l.until("released", func() bool { return l.rec.Owners.Released == uid && l.power == protocol.PowerOff })
	if len(l.f.Maintenances) > 0 {
		l.f.Maintenances = nil
	} else {
		l.f.Claims = nil
	}
	l.unconfigure(uid)
}

// until steps the agent until it is so.
func (l *life) until(what string, is func() bool) {
	l.t.Helper()
	var result *decide.Result
	for range 1000 {
		if is() {
			return
		}
		result = l.step(result)
	}
	l.t.Fatalf("%s did not come: %s, %+v, attempt %+v", what, l.power, l.rec.Conditions, l.rec.Attempt)
}

// boots runs until the present owner's boot has ended well, and says by which override.
func (l *life) boots() protocol.BootTarget {
	l.t.Helper()
	in := Intent(l.f, l.f.Servers[0])
	l.until("a boot", func() bool {
		a := l.rec.Attempt
		return a != nil && a.Order.OwnerUID == in.Owner.UID && a.Stage.State == resource.AttemptSucceeded && l.power == protocol.PowerOn
	})
	return l.rec.Attempt.Order.Target
}

func (l *life) step(result *decide.Result) *decide.Result {
	l.ids++
	l.now = l.now.Add(time.Second)
	in := Intent(l.f, l.f.Servers[0])
	s := decide.Snapshot{
		Server: "s1", Synced: true, Intent: &in, HubTime: l.now, Incarnation: "i", Echo: l.echo, Artefacts: decide.Artefacts{Local: true},
		Settings: decide.Settings{SoftTimeout: 20 * time.Second, SettleWindow: 5 * time.Second, PollInterval: 15 * time.Second},
		Chain:    &protocol.BootChain{Kind: protocol.ChainUKI, First: "boot.efi", Last: "boot.efi", Files: []protocol.ChainFile{{Name: "boot.efi", Digest: "sha256:uki"}}},
		Record:   l.rec, Watch: l.watch, Result: result, NewID: fmt.Sprint("id-", l.ids), NewToken: fmt.Sprint("token-", l.ids), Uptime: time.Hour, Read: decide.ReadSpan{Sent: time.Hour, Answered: time.Hour},
		Observation: &protocol.Observation{Server: "s1", Power: l.power, Override: l.armed, StartedAt: l.now, ReadAt: l.now},
	}
	if b := in.Boot; b != nil {
		b.GrantFor = "i"
		s.Grant = &message.Grant{
			OwnerUID: b.Owner.UID, Generation: b.Generation, Server: "s1", ImageDigest: b.Image.Digest, FirstBoot: b.BootPolicy.FirstBoot,
			MaxAttempts: 1, Purpose: b.Owner.Kind, Repeat: Repeats(b.Owner.Kind, b.BootPolicy),
		}
	}
	if a := l.rec.Attempt; a.Open() && a.Network() && l.power == protocol.PowerOn {
		// The image boots and reports.
		s.Events = []decide.Event{
			{Begun: true, Token: a.Token, At: l.now},
			{Kind: protocol.EvidenceFetched, File: "boot.efi", Token: a.Token, At: l.now},
			{Kind: protocol.EvidenceInstalled, Token: a.Token, At: l.now},
		}
		if a.Order.Purpose == resource.PurposeDiscovery {
			s.Events[2].Kind = protocol.EvidenceDiscovered
		}
	}
	p := decide.Step(l.now, s)
	l.rec, l.watch = p.Record, p.Watch
	if p.Action.Kind == decide.ActNone {
		if a := l.rec.Attempt; a != nil && a.Stage.State == resource.AttemptSucceeded && a.Network() && a.Order.Purpose.Or() == resource.PurposeClaim && l.power == protocol.PowerOn {
			l.power = protocol.PowerOff // installers end so
		}
		return nil
	}
	r := &decide.Result{Action: p.Action.Kind, Attempt: p.Action.Attempt, At: l.now}
	switch p.Action.Kind { //nolint:exhaustive // what is not there is not offered
	case decide.ActArm, decide.ActDisarm:
		l.armed = p.Action.Override
		r.Stored, r.Read, r.Outcome = l.armed, l.armed, protocol.BootStored
	case decide.ActOn:
		l.power, l.armed = protocol.PowerOn, protocol.Override{}
	case decide.ActGraceful, decide.ActForceOff:
		l.power = protocol.PowerOff
	}
	return r
}

// TestLifetimes is the seed's table of what becomes of the record of a first boot (seed
// 000, First boot tracking), over what the hub wants and what the agent decides. Each row
// begins with a server whose claim was installed, and is a list of what happens.
func TestLifetimes(t *testing.T) {
	const pxe, http, hdd = protocol.TargetPxe, protocol.TargetUefiHTTP, protocol.TargetHdd
	for name, happens := range map[string]func(l *life, boots func(when string, want protocol.BootTarget)){
		"new claim": func(l *life, boots func(string, protocol.BootTarget)) {
			l.ends("uid-1")
			l.claim("uid-2") // of the same name
			boots("a new claim", pxe)
		},
		"claim deleted": func(l *life, _ func(string, protocol.BootTarget)) {
			l.ends("uid-1")
			if in := Intent(l.f, l.f.Servers[0]); len(l.f.Configs) != 0 || in.Boot != nil || in.Owner.UID != "" || l.power != protocol.PowerOff {
				l.t.Errorf("%d configurations, %+v, %s", len(l.f.Configs), in, l.power)
			}
		},
		"maintenance": func(l *life, boots func(string, protocol.BootTarget)) {
			l.maintain("m1")
			boots("the maintenance", http)
			l.ends("uid-m1")
			boots("back at the claim", hdd)
			l.maintain("m2")
			boots("another maintenance", http)
		},
		"discovery": func(l *life, boots func(string, protocol.BootTarget)) {
			l.ends("uid-1")
			l.configure("discovery-1", resource.PurposeDiscovery, resource.DiscoveryPolicy())
			boots("a discovery", pxe)
			now := l.now
			l.f.Configs[0].Metadata.DeletedAt = &now
			l.until("released", func() bool { return l.rec.Owners.Released == "discovery-1" && l.power == protocol.PowerOff })
			l.unconfigure("discovery-1")
			if p := l.rec.ProvisionedFor("discovery-1", 1); p != nil || l.rec.Attempt != nil || len(l.f.Configs) != 0 {
				l.t.Errorf("the discovery has left %+v, %+v", p, l.rec.Attempt)
			}
			l.claim("uid-2")
			boots("the claim after it", pxe)
		},
		"move": func(l *life, boots func(string, protocol.BootTarget)) {
			l.echo = l.rec.Owners.Provisioned // the hub that took over has it, signed
			l.rec, l.watch, l.power = decide.Record{Server: "s1"}, decide.Watch{}, protocol.PowerOff
			boots("at another agent", hdd)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			boots := func(when string, want protocol.BootTarget) {
				t.Helper()
				if got := l.boots(); got != want {
					t.Fatalf("%s boots by %s, want %s; record %+v", when, got, want, l.rec)
				}
			}
			l.claim("uid-1")
			boots("the first boot", pxe)
			if l.rec.ProvisionedFor("uid-1", 1) == nil {
				t.Fatalf("no record: %+v", l.rec)
			}
			was := *l.rec.ProvisionedFor("uid-1", 1)
			l.until("the disk boot", func() bool {
				return l.rec.Attempt.Order.Target == hdd && l.rec.Attempt.Stage.State == resource.AttemptSucceeded
			})
			happens(l, boots)
			if is := l.rec.ProvisionedFor("uid-1", 1); is != nil && *is != was {
				t.Errorf("the record was %+v and is %+v", was, is)
			}
		})
	}
}
