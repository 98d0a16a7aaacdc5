package site

import (
	"net/http"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/sim"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestServersFromInventory: somebody applies a BMC and no Server. The agent reads what
// is behind it, the hub makes the Server of the host and not of the baseboard beside
// it, and the server is installed by that. A probe goes the same way. When the board
// is changed nothing is powered on until somebody accepts it.
func TestServersFromInventory(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	p := bmcsim.Plain()
	p.Tree = tree.Baseboard()
	sv, err := sim.StartServer(sim.ServerConfig{
		Name: "n1", MAC: "02:00:00:00:00:01", Username: "admin", Password: "secret", Personality: p, DHCP: s.dhcp, Speed: speed,
		Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sv.Close() })
	s.servers = append(s.servers, sv)
	board := func(serial string) {
		sv.BMC.ClearFaults()
		sv.BMC.Inject(bmcsim.Fault{Method: http.MethodGet, Path: "/redfish/v1/Systems/1", Merge: `{"SerialNumber":"` + serial + `"}`, Times: 1_000_000})
	}
	board("one")
	s.startHub()
	var objs []resource.Object
	for _, o := range s.manifests() {
		if o.Head().Kind != resource.KindServer {
			objs = append(objs, o)
		}
	}
	s.apply(objs...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)

	v := s.untilServer("b-n1", "the server of the inventory", func(*resource.Server) bool { return true })
	if v.Spec.BootMAC != sv.MAC || v.Spec.BMCRef.Name != "b-n1" || !strings.HasPrefix(v.Spec.SystemURI, "/redfish/v1/Systems/") {
		t.Errorf("the server is %+v", v.Spec)
	}
	if list, err := s.client.Objects.List(t.Context(), resource.KindServer); err != nil || len(list) != 1 {
		t.Errorf("%d servers, %v", len(list), err)
	}
	probes, err := s.client.BMCs.Probe(t.Context(), "b-n1", api.ProbeRequest{})
	if err != nil || len(probes.Items) != 1 || len(probes.Items[0].Boot) == 0 || probes.Items[0].Inventory.SystemURI != v.Spec.SystemURI {
		t.Errorf("the probe is %+v, %v", probes, err)
	}

	claim := s.claim("b-n1")
	s.apply(claim)
	s.untilServer("b-n1", "the disk boot after the installation", diskBoot)
	s.installedOnce()
	first := s.untilServer("b-n1", "its identity", func(v *resource.Server) bool { return v.Status.Report.Identity != "" }).Status.Report.Identity

	// Another board: seen when the BMC comes back.
	board("two")
	s.reach(0, bmcsim.ReachRefused)
	s.untilServer("b-n1", "BMCUnreachable", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondBMCUnreachable) })
	s.reach(0, bmcsim.ReachOK)
	changed := s.untilServer("b-n1", "IdentityChanged", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondIdentityChanged) })
	sv.BMC.Hosts()[0].PressPowerButton()
	s.release(s.place("b-n1", "k", resource.HoldFenced).Metadata.Name)
	s.staysOff(0)
	if _, err := s.client.Servers.Accept(t.Context(), "b-n1", api.AcceptServer{Identity: changed.Status.Report.Identity}); err != nil || changed.Status.Report.Identity == first {
		t.Fatalf("accept %q after %q: %v", changed.Status.Report.Identity, first, err)
	}
	s.untilServer("b-n1", "the disk boot after the board was accepted", func(v *resource.Server) bool {
		return diskBoot(v) && !has(v.Status.Conditions, resource.CondIdentityChanged)
	})
	s.installedOnce()
}
