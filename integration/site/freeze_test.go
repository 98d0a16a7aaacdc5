package site

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestFreeze: a claim whose server the agent knows how to boot does not boot while a freeze lies, also after its agent was started anew with
// the hub gone; holds are enforced meanwhile; and once it ends the server is installed.
func TestFreeze(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.scraped = prometheus.NewRegistry()
	stop := s.startAgent(c)
	z := &resource.Freeze{Spec: resource.FreezeSpec{All: true, Reason: "smoke"}}
	z.Metadata.Name = "all"
	z.Default()
	s.apply(z, s.claim("n1"))
	frozen := func(sv *resource.Server) bool {
		return sv.Status.Report != nil && sv.Status.Report.Condition(resource.CondFrozen) != nil
	}
	s.untilServer("n1", "Frozen, with what it is to boot", func(sv *resource.Server) bool {
		return frozen(sv) && sv.Status.Report.BootGeneration > 0
	})
	if got, ok := get[*resource.Freeze](s, "all"); !ok || got.Status.By != "admin" || got.Status.Servers != 1 || got.Status.Told != 1 {
		t.Errorf("the freeze says %+v", got.Status)
	}
	hold := s.place("n1", "k", resource.HoldFenced)
	if _, err := s.client.Holds.Release(t.Context(), hold.Metadata.Name, api.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	s.stopHub()
	stop()
	s.scraped = prometheus.NewRegistry()
	s.startAgent(c)
	s.until("the agent alone says Frozen of what it has read", func() bool {
		return metric(t, s.scraped, "rackboot_agent_conditions", string(resource.CondFrozen)) == 1 && metric(t, s.scraped, "rackboot_agent_observation_timestamp_seconds", "n1") > 0
	}, func() any { return nil })
	s.startHub()
	s.untilServer("n1", "Frozen as the hub hears", frozen)
	if network, disk, other, installs := s.servers[0].Boots.Counts(); network+disk+other+installs != 0 {
		t.Errorf("%d network boots, %d from disk, %d others, %d installations of a frozen server", network, disk, other, installs)
	}
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindFreeze, "all"); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	s.installedOnce()
}
