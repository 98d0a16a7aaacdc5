package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// These are rows of the fault table over the hub's own broker, in real time and with
// real disks; integration/faults has all of them in simulated time.

func copyOf(t *testing.T, folder string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", folder, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// TestAgentDisk: the agent's database is an old copy, or gone. Nothing that was done
// is done again, and every hold is back.
func TestAgentDisk(t *testing.T) {
	for name, exchange := range map[string]func(t *testing.T, disk, old string){
		"rolled back": func(t *testing.T, disk, old string) {
			if err := os.Rename(old, disk); err != nil {
				t.Fatal(err)
			}
		},
		"lost": func(*testing.T, string, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, 2)
			s.startHub()
			s.apply(s.manifests()...)
			c := s.firstAgent()
			s.join(c)
			stop := s.startAgent(c)
			s.release(s.place("n2", "early", resource.HoldFenced).Metadata.Name)
			stop()
			disk := filepath.Join(c.DataDir, "state")
			old := copyOf(t, disk)

			stop = s.startAgent(c)
			s.provision()
			s.reboot("n1")
			s.untilServer("n1", "the disk boot after the reboot", diskBoot)
			h := s.place("n2", "k", resource.HoldFenced)
			_, before, _, _ := s.servers[0].Boots.Counts()
			stop()
			if err := os.RemoveAll(disk); err != nil {
				t.Fatal(err)
			}
			exchange(t, disk, old)
			s.startAgent(c)

			// What is known of the database beside it tells. What is held is guarded, and nothing
			// else is done, until somebody says that it is lost.
			s.until("guard mode", func() bool {
				a, ok := get[*resource.Agent](s, "r1-1")
				return ok && has(a.Status.Conditions, resource.CondGuardMode)
			}, func() any { return "none" })
			s.staysOff(1)
			if err := agentdaemon.AcceptLoss(c, "operator", "tried"); err != nil {
				t.Fatal(err)
			}
			s.until("the event of another disk", func() bool { return s.events(resource.EventRenewed) > 0 }, func() any { return "none" })
			s.untilHold(h.Metadata.Name, resource.HoldFenced)
			s.staysOff(1)
			s.installedOnce()
			if _, disk, _, _ := s.servers[0].Boots.Counts(); disk != before {
				t.Errorf("%d disk boots, and %d before the disk was exchanged", disk, before)
			}
			s.release(h.Metadata.Name)
			s.reboot("n1") // and it goes on
			s.installedOnce()
		})
	}
}

// events counts the events of a code.
func (s *site) events(code resource.EventCode) (n int) {
	s.t.Helper()
	for after := uint64(0); ; {
		list, err := s.client.Events(s.t.Context(), after, 1000)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(list.Items) == 0 {
			return n
		}
		for _, e := range list.Items {
			after = e.Index
			if e.Code == code {
				n++
			}
		}
	}
}

// untilEvent waits for an event: it goes its own way to the hub's log, and may come after
// the report of the state that it tells of.
func (s *site) untilEvent(what string, is func(api.EventRecord) bool) {
	s.t.Helper()
	var all []api.EventRecord
	s.until("the event that says "+what, func() bool {
		list, err := s.client.Events(s.t.Context(), 0, 1000)
		all = list.Items
		return err == nil && slices.ContainsFunc(all, is)
	}, func() any { return all })
}

// TestPartition: the network is gone in both directions. Holds lie on, a request whose
// time passes meanwhile never happens, and everything else comes through at once when
// the network is back.
func TestPartition(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	g := newGate(t, s.hub.MQTT)
	c.Link.Broker = g.url()
	s.startAgent(c)
	s.provision()
	held := s.place("n2", "before", resource.HoldFenced)
	_, before, _, _ := s.servers[0].Boots.Counts()

	g.lead("")
	soon := time.Now().Add(2 * time.Second)
	r, err := s.client.Requests.Reboot(t.Context(), "n1", api.RebootRequest{Mode: resource.StopHard, NotAfter: &soon})
	if err != nil {
		t.Fatal(err)
	}
	h := s.accepted("n1", "meanwhile")
	s.staysOff(1)
	time.Sleep(time.Until(soon)) // until the request has expired
	if h, _ := get[*resource.Hold](s, h.Metadata.Name); h.Status.Word != resource.HoldAccepted {
		t.Errorf("a hold that nobody heard of is %s", h.Status.Word)
	}

	g.lead(s.hub.MQTT)
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.until("the end of the request", func() bool {
		q, err := s.client.Requests.Get(t.Context(), r.ID)
		r = q
		return err == nil && q.Report.Outcome == resource.OutcomeExpired
	}, func() any { return r.Report })
	if _, disk, _, _ := s.servers[0].Boots.Counts(); disk != before {
		t.Errorf("%d disk boots, and %d before", disk, before)
	}
	s.untilHold(held.Metadata.Name, resource.HoldFenced)
}

// TestTwoHubs: a copy of the hub is started while the hub lives, and the agent comes
// to it. The agent keeps to the hub that it follows; the copy steps down and accepts
// nothing that nobody would enforce.
func TestTwoHubs(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	g := newGate(t, s.hub.MQTT)
	c.Link.Broker = g.url()
	s.startAgent(c)
	h := s.place("n1", "k", resource.HoldFenced)
	s.stopHub()
	twin := s.twin(copyOf(t, s.hub.DataDir))
	s.startHub() // both have the same number now
	s.untilAgent("r1-1", "the hub heard again", func(a *resource.Agent) bool { return len(a.Status.Conditions) == 0 })
	twin.startHub() // before any agent comes to it

	g.lead(twin.hub.MQTT)
	twin.until("the copy to step down", func() bool {
		_, err := twin.client.Holds.Create(t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "at the copy", Mode: resource.StopHard}})
		return protocol.CodeOf(err) == protocol.CodeUnavailable && protocol.HintOf(err) != ""
	}, func() any { return "a hub that accepts" })
	s.staysOff(0)
	g.lead(s.hub.MQTT)
	s.untilHold(s.accepted("n1", "second").Metadata.Name, resource.HoldFenced)
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	list, err := s.client.Objects.List(t.Context(), resource.KindHold)
	if err != nil || len(list) != 2 {
		t.Errorf("%d holds, %v", len(list), err)
	}
}

// twin is the same site with a copy of its hub, elsewhere.
func (s *site) twin(folder string) *site {
	s.t.Helper()
	ports := freePorts(s.t, 2)
	o := &site{t: s.t, dir: s.dir, log: s.log, servers: s.servers, reg: s.reg, image: s.image, dhcp: s.dhcp, http: s.http}
	o.hub = hubdaemon.Config{DataDir: folder, API: ports[0], MQTT: ports[1], Names: s.hub.Names}
	return o
}
