package site

import (
	"slices"
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// reverts returns to the last verified image before the current one.
func (s *site) reverts(number, copyOf int) {
	s.t.Helper()
	out, err := s.client.Groups.Command(s.t.Context(), "nodes", api.GroupRevert, api.GroupRequest{Reason: "the disks are slow"})
	if err != nil || out.Revision != number || out.CopyOf != copyOf || len(out.Changes) == 0 {
		s.t.Fatalf("%+v, %v", out, err)
	}
}

// TestGroupRevert: a return is another revision, which the catalogue does not undo, and the
// image that it returned from is not taken again. Who runs that runs on.
func TestGroupRevert(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	g := nodes()
	s.groups(s.entry("1.0"), manages(resource.OptInAll), g)
	s.apply(s.member("n1", g))
	s.installedIs(0, "1.0")
	s.untilGroup("nodes", "the verified revision", verified(1))
	s.apply(s.entry("2.0"))
	s.untilGroup("nodes", "the second revision", revision(2))
	s.apply(s.member("n2", g))
	s.installedIs(1, "2.0")
	s.untilGroup("nodes", "the verified second", verified(2))

	if out, err := s.client.Groups.Command(t.Context(), "nodes", api.GroupRevert, api.GroupRequest{Reason: "what if", DryRun: true}); err != nil || out.Revision != 3 || out.CopyOf != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	s.reverts(3, 1)
	st := s.untilGroup("nodes", "the pin", func(st resource.ServerGroupStatus) bool { return verified(3)(st) && st.Pinned != nil })
	if r, ok := st.Rejected["os-2-0"]; !ok || r.Revision != 2 || r.Reason != "the disks are slow" || st.Pinned.Revision != 3 || st.Pinned.By == "" {
		t.Errorf("%+v", st)
	}
	s.apply(s.member("n3", g), s.entry("3.0"))
	s.installedIs(2, "1.0")
	s.untilGroup("nodes", "the word of the pin", func(st resource.ServerGroupStatus) bool {
		return st.Revision == 3 && tells(st.Conditions, resource.CondImagesDeferred, "pinned to revision 3")
	})
	if n, _, _, installs := s.servers[1].Boots.Counts(); n != 1 || installs != 1 {
		t.Errorf("n2: %d network boots and %d installations", n, installs)
	}
	if _, err := s.client.Groups.Command(t.Context(), "nodes", api.GroupUnpin, api.GroupRequest{Reason: "there is another"}); err != nil {
		t.Fatal(err)
	}
	s.untilGroup("nodes", "the newest", revision(4))
	if got, want := s.lines("nodes"), []string{"1.0 catalogue", "2.0 catalogue", "1.0 rollback", "3.0 catalogue"}; !slices.Equal(got, want) {
		t.Errorf("history %q", got)
	}
	s.untilEvent("who returned", func(e api.EventRecord) bool {
		return e.Code == resource.EventGroup && strings.HasPrefix(e.Message, "nodes has revision 3 by admin: rollback")
	})
}

// TestGroupRevertNetwork: a server with boot: Network follows at its next power-on, and is
// not touched before.
func TestGroupRevertNetwork(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, 1, func(c *sim.ServerConfig) {
		c.Live = func() protocol.ProbeReport { return protocol.ProbeReport{State: protocol.ProbeBooted} }
	})
	g := nodes(network)
	s.groups(s.entry("1.0"), manages(resource.OptInAll), g)
	s.apply(s.member("n1", g))
	for number, version := range []string{"1.0", "2.0", "1.0"} {
		switch number++; number {
		case 1:
		case 2:
			s.apply(s.entry(version))
		case 3:
			s.reverts(3, 1)
		}
		s.until("configuration of "+version, func() bool { return s.configured(number) }, func() any { return number })
		if number > 1 {
			if n, _, _, _ := s.servers[0].Boots.Counts(); n != number-1 {
				t.Errorf("%d network boots before the power-on to revision %d", n, number)
			}
			s.reboot("n1")
		}
		_, digest := osOf(version)
		s.untilServer("n1", "the boot of "+version, func(v *resource.Server) bool {
			n, _, _, _ := s.servers[0].Boots.Counts()
			a := v.Status.Report.Attempt
			return n == number && s.servers[0].Boots.Digest() == digest && a != nil && a.State == resource.AttemptSucceeded && v.Status.Report.Observation.Power == protocol.PowerOn
		})
		s.untilGroup("nodes", "the verified revision", verified(number))
	}
	if n, disk, _, installs := s.servers[0].Boots.Counts(); n != 3 || disk != 0 || installs != 0 {
		t.Errorf("%d network boots, %d disk boots and %d installations", n, disk, installs)
	}
}
