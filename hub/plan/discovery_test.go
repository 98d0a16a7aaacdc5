package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestDiscoveryBeginTable(t *testing.T) {
	doctable.Of(t, "discovery.go", "beginRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.Words(ImageAsked, ImageFailing, ImageInvalid, ImageReady), doctable.YesNo(),
	}, func(in []string) []string {
		return doctable.Words(beginRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes", ImageState(in[4]), in[5] == "yes"))
	})
}

func TestDiscoveryGoesOnTable(t *testing.T) {
	doctable.Of(t, "discovery.go", "goesOnRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), {"same", "other"}, doctable.Words(heardNothing, heardDiscovered, heardGivenUp, heardReleased),
	}, func(in []string) []string {
		return doctable.Words(goesOnRule(in[0] == "yes", in[1] == "yes", in[2] == "other", heard(in[3])))
	})
}

// undiscovered is a fleet with one server, in a rack that discovers.
func undiscovered(t *testing.T) (Fleet, *resource.Server, *resource.Rack) {
	t.Helper()
	r := &resource.Rack{Spec: resource.RackSpec{Discovery: &resource.RackDiscovery{Image: "r.example/probe:1"}}}
	r.Metadata.Name, r.Status.Agent = "rack-a", "agent-a"
	r.Default()
	b := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "rack-a"}, Address: "192.0.2.1"}}
	b.Metadata.Name = "b1"
	s := &resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b1"}}}
	s.Metadata.Name, s.Metadata.UID = "n1", "UID-1"
	return Fleet{
		Racks: []*resource.Rack{r}, BMCs: []*resource.BMC{b}, Servers: []*resource.Server{s},
		Peers:   map[string]Peer{"agent-a": {Incarnation: "disk-1", Capabilities: message.Capabilities()}},
		Reports: map[string]*resource.ServerReport{"n1": {Server: "n1", Observation: protocol.Observation{Power: protocol.PowerOff}}},
	}, s, r
}

func configured(s *resource.Server) *resource.BootConfiguration {
	b := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:   "n1",
		Owner:    resource.Owner{Kind: resource.PurposeDiscovery, Name: "n1", UID: "discovery-1"},
		BootSpec: resource.BootSpec{BootPolicy: resource.DiscoveryPolicy()},
	}}
	b.Metadata.Name, b.Status.GrantFor = DiscoveryName(s), "disk-1"
	return b
}

func ready(*resource.Rack, *resource.Server) BootSeen {
	return BootSeen{State: ImageReady, Image: &resource.Image{Digest: "sha256:1"}}
}

// Seed 000, Discovery lifecycle, and facts boot-policy rows 2, 4 and 25: who is
// discovered, when, and what is stored before the server is Available.
func TestDiscoveries(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	inventory := &protocol.HostInventory{MemoryBytes: 1 << 30}
	succeeded := func(i *protocol.ImageReport) *resource.ServerReport {
		return &resource.ServerReport{OwnerUID: "discovery-1", Image: i, Attempt: &resource.AttemptReport{
			State: resource.AttemptSucceeded, Evidence: protocol.EvidenceDiscovered, Observed: protocol.TargetUefiHTTP,
		}}
	}
	for name, c := range map[string]struct {
		change func(f *Fleet, s *resource.Server)
		config func(b *resource.BootConfiguration) // nil: there is none
		image  func(*resource.Rack, *resource.Server) BootSeen
		then   DiscoveryThen
		said   string // in the conditions, or the message
	}{
		"new":          {then: DiscoveryBegin},
		"no discovery": {change: func(f *Fleet, _ *resource.Server) { f.Racks[0].Spec.Discovery = nil }, then: DiscoveryNothing},
		"discovered":   {change: func(_ *Fleet, s *resource.Server) { s.Status.Discovered = &resource.Discovered{} }, then: DiscoveryNothing},
		"asked again": {change: func(_ *Fleet, s *resource.Server) {
			s.Status.Discovered, s.Status.Discovery = &resource.Discovered{}, &resource.DiscoveryStatus{AskedAt: &now}
		}, then: DiscoveryBegin},
		"given up": {change: func(_ *Fleet, s *resource.Server) { s.Status.Discovery = &resource.DiscoveryStatus{FailedAt: &now} }, then: DiscoveryNothing},
		"claimed": {change: func(f *Fleet, _ *resource.Server) {
			f.Claims = []*resource.Claim{{Status: resource.ClaimStatus{Server: "n1"}}}
		}, then: DiscoveryNothing},
		"in maintenance": {change: func(f *Fleet, _ *resource.Server) {
			f.Maintenances = []*resource.Maintenance{{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}}, Status: resource.MaintenanceStatus{State: resource.MaintenanceActive}}}
		}, then: DiscoveryNothing},
		"held": {change: func(f *Fleet, _ *resource.Server) {
			f.Holds = []*resource.Hold{{Spec: resource.HoldSpec{Server: "n1"}}}
		}, then: DiscoveryNothing},
		"an agent too old": {change: func(f *Fleet, _ *resource.Server) {
			f.Peers["agent-a"] = Peer{Incarnation: "disk-1", Capabilities: few()}
		}, then: DiscoveryWaits, said: "AgentTooOld: discovery needs"},
		"not to be reached": {change: func(_ *Fleet, s *resource.Server) { s.Spec.Reach = resource.ReachVMedia }, then: DiscoveryWaits, said: "UnsupportedBoot: discovery: server n1 has reach vmedia"},
		"an agent unheard":  {change: func(f *Fleet, _ *resource.Server) { f.Peers = nil }, then: DiscoveryWaits},
		"an image that fails": {image: func(*resource.Rack, *resource.Server) BootSeen {
			return BootSeen{State: ImageInvalid, Code: resource.CondImageInvalid, Message: "no initramfs"}
		}, then: DiscoveryWaits, said: "ImageInvalid: no initramfs"},
		"an image not looked at yet": {image: func(*resource.Rack, *resource.Server) BootSeen { return BootSeen{State: ImageAsked} }, then: DiscoveryNothing},

		"under way":     {config: func(*resource.BootConfiguration) {}, then: DiscoveryNothing},
		"the rack dark": {config: func(*resource.BootConfiguration) {}, change: func(f *Fleet, _ *resource.Server) { f.Reports = nil }, then: DiscoveryNothing},
		"reported": {config: func(*resource.BootConfiguration) {}, then: DiscoveryKeep, change: func(f *Fleet, _ *resource.Server) {
			f.Reports["n1"] = succeeded(&protocol.ImageReport{Digest: "sha256:i", Bytes: 10, Inventory: inventory})
		}},
		"reported, the inventory comes later": {config: func(*resource.BootConfiguration) {}, then: DiscoveryNothing, change: func(f *Fleet, _ *resource.Server) {
			f.Reports["n1"] = succeeded(&protocol.ImageReport{Digest: "sha256:i", Bytes: 10})
		}},
		"reported, the inventory is too large": {config: func(*resource.BootConfiguration) {}, then: DiscoveryKeep, change: func(f *Fleet, _ *resource.Server) {
			f.Reports["n1"] = succeeded(&protocol.ImageReport{Digest: "sha256:i", Bytes: protocol.MaxReportedInventory + 1})
		}},
		"of another owner": {config: func(*resource.BootConfiguration) {}, then: DiscoveryNothing, change: func(f *Fleet, _ *resource.Server) {
			r := succeeded(&protocol.ImageReport{})
			r.OwnerUID, f.Reports["n1"] = "other", r
		}},
		"given up by the agent": {config: func(*resource.BootConfiguration) {}, then: DiscoveryGiveUp, said: "NoDHCP", change: func(f *Fleet, _ *resource.Server) {
			f.Reports["n1"] = &resource.ServerReport{OwnerUID: "discovery-1", Conditions: []resource.ConditionState{{Code: resource.CondDiscoveryFailed, Message: "3 of 3 attempts; the last: NoDHCP"}}}
		}},
		"stored":              {config: func(*resource.BootConfiguration) {}, change: func(_ *Fleet, s *resource.Server) { s.Status.Discovered = &resource.Discovered{} }, then: DiscoveryEnd},
		"not wanted any more": {config: func(*resource.BootConfiguration) {}, change: func(f *Fleet, _ *resource.Server) { f.Racks[0].Spec.Discovery = nil }, then: DiscoveryEnd},
		"ends":                {config: func(b *resource.BootConfiguration) { b.Metadata.DeletedAt = &now }, then: DiscoveryNothing},
		"ends, and proved Off": {config: func(b *resource.BootConfiguration) { b.Metadata.DeletedAt = &now }, then: DiscoveryRemove, change: func(f *Fleet, _ *resource.Server) {
			f.Reports["n1"] = &resource.ServerReport{OwnerUID: "discovery-1", Released: true}
		}},
		"another disk of the agent": {config: func(b *resource.BootConfiguration) { b.Status.GrantFor = "disk-0" }, then: DiscoveryReplace},
	} {
		t.Run(name, func(t *testing.T) {
			f, s, _ := undiscovered(t)
			if c.change != nil {
				c.change(&f, s)
			}
			if c.config != nil {
				b := configured(s)
				c.config(b)
				f.Configs = append(f.Configs, b)
			}
			image := c.image
			if image == nil {
				image = ready
			}
			w, there := Discoveries(f, image)["n1"]
			if !there {
				w.Then = DiscoveryNothing
			}
			said := w.Message
			for _, cond := range w.Conditions {
				said += string(cond.Code) + ": " + cond.Message
			}
			if w.Then != c.then || !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("%+v", w)
			}
			if len(StrayDiscoveries(f)) > 0 {
				t.Errorf("%+v is stray", StrayDiscoveries(f))
			}
		})
	}
}

// The target is Pxe whatever anybody's policy says, nobody else's server is power-cycled
// without leave, and the intent says who may not be claimed.
func TestDiscoveryIntent(t *testing.T) {
	f, s, r := undiscovered(t)
	if in := Intent(f, s); in.Discovery != resource.DiscoveryWanted || in.Owner.UID != "" || in.Power != "" {
		t.Errorf("before: %+v", in)
	}
	f.Configs = []*resource.BootConfiguration{configured(s)}
	in := Intent(f, s)
	if in.Owner.Kind != resource.PurposeDiscovery || in.Owner.UID != "discovery-1" || in.Power != resource.WantOn || in.PowerCycle || in.Discovery != "" ||
		in.Boot == nil || in.Boot.BootPolicy.FirstBoot != resource.FirstBootPxe || in.Boot.Timeout != 30*time.Minute {
		t.Errorf("%+v, %+v", in, in.Boot)
	}
	r.Spec.Discovery.AllowPowerCycle = true
	if !Intent(f, s).PowerCycle {
		t.Error("it may be power-cycled")
	}
	s.Metadata.UID = "UID-2"
	if stray := StrayDiscoveries(f); len(stray) != 1 {
		t.Errorf("the configuration of a server that was made again: %v", stray)
	}
}

// A claim waits for a server that is not discovered, also one that it names, and says so.
func TestClaimsWaitForDiscovery(t *testing.T) {
	for _, byName := range []bool{true, false} {
		f, s, _ := undiscovered(t)
		c := &resource.Claim{Spec: resource.ClaimSpec{ServerRef: &resource.Ref{Name: "n1"}}}
		if !byName {
			s.Metadata.Labels = map[string]string{"a": "b"}
			c.Spec = resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: s.Metadata.Labels}}
		}
		f.Claims, f.Wanting = []*resource.Claim{c}, []*resource.Claim{c}
		if bound, why := Bind(f); len(bound) > 0 || len(why) != 1 || !strings.Contains(why[0].Reason, "not discovered yet") {
			t.Errorf("by name %t: %v, %v", byName, bound, why)
		}
		s.Status.Discovered = &resource.Discovered{}
		f.Configs = []*resource.BootConfiguration{configured(s)}
		if bound, _ := Bind(f); len(bound) > 0 {
			t.Errorf("by name %t: bound while the discovery ends", byName)
		}
		f.Configs = nil
		if bound, why := Bind(f); len(bound) != 1 {
			t.Errorf("by name %t: %v", byName, why)
		}
	}
}

// A rack that comes up whole is discovered a few servers at a time, and the next begins
// when one has ended.
func TestDiscoveriesAtOnce(t *testing.T) {
	f, s, r := undiscovered(t)
	r.Spec.Discovery.MaxAtOnce = 2
	for _, name := range []string{"n2", "n3", "n4"} {
		next := *s
		next.Metadata.Name, next.Metadata.UID = name, "UID-"+name
		f.Servers = append(f.Servers, &next)
	}
	begun := func() (names []string) {
		for name, w := range Discoveries(f, ready) {
			if w.Then == DiscoveryBegin {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if got := begun(); !slices.Equal(got, []string{"n1", "n2"}) {
		t.Errorf("at first %q begin", got)
	}
	f.Configs = append(f.Configs, configured(s))
	if got := begun(); !slices.Equal(got, []string{"n2"}) {
		t.Errorf("beside one that is under way %q begin", got)
	}
	r.Spec.Discovery.MaxAtOnce = 1
	if got := begun(); got != nil {
		t.Errorf("with no room %q begin", got)
	}
}
