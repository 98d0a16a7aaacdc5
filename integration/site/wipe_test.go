package site

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	bmcsim "rackboot/bmc/sim"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// decommission is an environment that discards disks, in an uploaded file, and a
// maintenance of a server with it.
func decommission() *resource.BootEnv {
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{
		OS:          resource.EnvOS{Name: "rackboot-probe", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "Probe.tar", UKI: "EFI/Linux.efi"}}},
		Templates:   []resource.EnvTemplate{{Name: "permit", Path: protocol.FileDiscard, Contents: "all\n"}},
		Destructive: true,
	}}
	env.Metadata.Name = "decommission"
	env.Default()
	return env
}

func returned(server string) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: server}, Policy: resource.MaintenanceEnforced, Reason: "return of " + server,
		Boot: resource.MaintenanceBoot{BootEnv: &resource.Ref{Name: "decommission"}, BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP}},
	}}
	m.Metadata.Name = "m-" + server
	m.Default()
	return m
}

// discarding is what the simulated image does in a decommission: it asks for the agent's
// word, as rackboot-probe does, and discards the disk only with it.
func (s *site) discarding(i int) protocol.ProbeReport {
	base, _ := s.servers[i].Boots.Installing()
	resp, err := http.Get(base + protocol.FileDiscard)
	if err != nil {
		return protocol.ProbeReport{State: protocol.ProbeFailed, Message: err.Error()}
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil || resp.StatusCode != http.StatusOK || string(said) != "all\n" {
		return protocol.ProbeReport{State: protocol.ProbeFailed, Message: "the agent does not confirm it"}
	}
	s.servers[i].Disk.Install("")
	return protocol.ProbeReport{State: protocol.ProbeBooted, Message: "vda discarded"}
}

// TestDecommission: the disks of a server are discarded by a maintenance that somebody
// approved with the destructive key, and the server goes back to whom it was of, whose
// record is as it was. Without the approval nothing boots.
func TestDecommission(t *testing.T) {
	t.Parallel()
	var s *site
	var wiping atomic.Bool
	number := 0
	s = newSiteOf(t, 2, func(c *sim.ServerConfig) {
		i := number
		number++
		c.Live = func() protocol.ProbeReport {
			if !wiping.Load() {
				return protocol.ProbeReport{State: protocol.ProbeInstalled}
			}
			return s.discarding(i)
		}
	})
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.hub.DestructiveKey = hubdaemon.DestructiveKey{File: s.destructiveKey()}
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	claim := s.claim("n1")
	s.apply(claim)
	s.untilServer("n1", "the claim's disk boot", diskBoot)
	claim = s.claim("n1")
	claim.Spec.Power = resource.WantOff
	s.apply(claim, decommission())
	if err := s.upload("Probe.tar", "EFI/Linux.efi", envUKI); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n1", "Off, as its claim wants", func(v *resource.Server) bool { return v.Status.Report.Observation.Power == protocol.PowerOff })
	before, ok := get[*resource.BootConfiguration](s, claim.Metadata.Name)
	if !ok || before.Status.Provisioned == nil || s.servers[0].Disk.Digest() == "" {
		t.Fatalf("the claim has no system: %+v", before)
	}
	resets := func() (n int) {
		for i := range s.servers {
			for _, h := range s.servers[i].BMC.History() {
				if h.What == bmcsim.RecordReset {
					n++
				}
			}
		}
		return n
	}
	wiping.Store(true)
	sent := resets()
	s.apply(returned("n1"), returned("n2"))
	ask := map[string]resource.ApprovalRequest{}
	s.until("the wishes for approvals", func() bool {
		all, err := s.client.Approvals.List(t.Context())
		for _, r := range all {
			if r.Class == resource.ApproveWipe && len(r.Boots) == 1 {
				ask[r.Targets[0]] = r
			}
		}
		return err == nil && len(ask) == 2
	}, func() any { return ask })
	s.staysOff(0)
	s.staysOff(1)
	if n := resets(); n != sent || s.servers[0].Disk.Digest() == "" {
		t.Fatalf("%d resets before anything was approved", n-sent)
	}

	if r, err := s.client.Approvals.Grant(t.Context(), ask["n1"].ID, api.GrantRequest{Version: ask["n1"].Version}); err != nil || r.State != resource.ApprovalApproved {
		t.Fatalf("%s, %v", r.State, err)
	}
	v := s.untilServer("n1", "the report of the decommission", func(v *resource.Server) bool {
		a := v.Status.Report.Attempt
		return v.Status.Phase == resource.PhaseMaintenance && v.Status.Report.Env != nil && a != nil && a.State == resource.AttemptSucceeded && a.Intended == protocol.TargetUefiHTTP
	})
	if a := v.Status.Report.Attempt; a.Evidence != protocol.EvidenceBooted || s.servers[0].Disk.Digest() != "" || v.Status.Report.Env.BootEnv != "decommission" {
		t.Errorf("%+v, the disk has %q", a, s.servers[0].Disk.Digest())
	}
	s.untilEvent("which disk was discarded", func(e api.EventRecord) bool {
		return e.Code == resource.EventInstalled && strings.Contains(e.Message, "vda discarded")
	})
	if _, err := s.client.Approvals.Deny(t.Context(), ask["n2"].ID, api.DenyRequest{Reason: "not this one"}); err != nil {
		t.Fatal(err)
	}
	s.until("the maintenance that was denied", func() bool {
		m, ok := get[*resource.Maintenance](s, "m-n2")
		return ok && m.Status.State == resource.MaintenanceDenied
	}, func() any { m, _ := get[*resource.Maintenance](s, "m-n2"); return m.Status })
	if n, d, r, _ := s.servers[1].Boots.Counts(); n+d+r != 0 {
		t.Errorf("n2 booted %d, %d, %d times", n, d, r)
	}

	for _, name := range []string{"m-n1", "m-n2"} {
		if _, err := s.client.Objects.Delete(t.Context(), resource.KindMaintenance, name); err != nil {
			t.Fatal(err)
		}
		s.until("the end of "+name, func() bool { _, there := get[*resource.Maintenance](s, name); return !there }, func() any {
			m, _ := get[*resource.Maintenance](s, name)
			return m
		})
	}
	s.untilServer("n1", "its claim's again", func(v *resource.Server) bool {
		return v.Status.Phase == resource.PhaseReserved && v.Status.Report.Observation.Power == protocol.PowerOff
	})
	s.untilServer("n2", "Available", func(v *resource.Server) bool { return v.Status.Phase == resource.PhaseAvailable })
	after, _ := get[*resource.BootConfiguration](s, claim.Metadata.Name)
	if after == nil || after.Status.Provisioned == nil || *after.Status.Provisioned != *before.Status.Provisioned || !slices.Equal(after.Status.SignedProvisioned, before.Status.SignedProvisioned) {
		t.Errorf("the claim's record was %+v, it is %+v", before.Status, after)
	}
	if s.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Error("n1 is On for nobody")
	}
}
