package brokers

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hubcluster "rackboot/hub/cluster"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// TestHubsShareAStore: two hubs on three NATS servers and one broker, with an agent whose server boots, is held and is
// released by either. The hub that works the rack is cut off from everything, comes back, and ends.
func TestHubsShareAStore(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a := newSite(t, 0, mosquitto)
	a.shares(c, "a", a.hub.DataDir)
	a.startHub()
	if _, err := a.client.Objects.Apply(t.Context(), a.manifests(), false); err != nil {
		t.Fatal(err)
	}
	a.join()
	a.startAgent()
	a.running("the disk boot after the installation")

	b := *a
	b.client, b.toHub = nil, newProxy(t, a.broker.addrs...)
	b.hub.Broker.URL, b.hub.API = b.toHub.url(), freeAddress(t)
	b.shares(c, "b", filepath.Join(a.dir, "other"))
	b.startHub()
	kv := c.open()
	by := map[string]*site{"a": a, "b": &b}
	works := func() string { return worker(t, kv) }
	worksIn := func(want string, most time.Duration) {
		t.Helper()
		begun := time.Now()
		for works() != want {
			if time.Since(begun) > most {
				t.Fatalf("after %s the rack is worked by %q, not by %q", most, works(), want)
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Logf("%s works the rack after %s", want, time.Since(begun).Round(10*time.Millisecond))
	}

	b.running("the same at the hub that came later")
	for name, s := range by { // whoever works the rack
		id := s.hold("by-" + name)
		a.word(id, resource.HoldFenced)
		b.word(id, resource.HoldFenced)
		s.release(id)
	}
	first := hubs.First(fence.Site, []hubs.Member{{Name: "a", Settled: true}, {Name: "b", Settled: true}})
	worksIn(first, 30*time.Second) // both are settled: it has it for good
	second := map[string]string{"a": "b", "b": "a"}[first]
	one, other := by[first], by[second]

	one.toHub.block() // the broker alone
	worksIn(second, 30*time.Second)
	one.release(one.hold("deaf"))
	one.toHub.cut(false)
	worksIn(first, 30*time.Second)

	one.toHub.block()
	for _, p := range one.toStore {
		p.block()
	}
	id := other.hold("cut")
	begun := time.Now()
	other.word(id, resource.HoldFenced)
	t.Logf("a hold is fenced %s after the hub that worked the rack was cut off", time.Since(begun).Round(10*time.Millisecond))
	worksIn(second, time.Second)

	one.toHub.cut(false)
	for _, p := range one.toStore {
		p.cut(false)
	}
	worksIn(first, 30*time.Second)
	other.release(id)
	id = one.hold("back")
	other.word(id, resource.HoldFenced)

	other.shows(t, map[string]protoapi.HubState{first: protoapi.HubWorks, second: protoapi.HubStandby})
	begun = time.Now()
	one.stopHub()
	t.Logf("a hub that works the rack has handed over and ended after %s", time.Since(begun).Round(10*time.Millisecond))
	if got := works(); got != second {
		t.Errorf("a hub has ended, and %q works the rack", got)
	}
	other.shows(t, map[string]protoapi.HubState{second: protoapi.HubWorks})
	one.keepsOff(t)
	other.release(id)
	other.running("released")
	if network, _, _, installs := other.server.Boots.Counts(); network != 1 || installs != 1 {
		t.Errorf("%d network boots and %d installations, want 1 and 1", network, installs)
	}
}

// shows asks for all hubs.
func (s *site) shows(t *testing.T, want map[string]protoapi.HubState) {
	t.Helper()
	got := map[string]protoapi.HubState{}
	all, err := s.client.Hubs.List(t.Context())
	for _, h := range all {
		got[h.Name] = h.State
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("it shows %v (%v), want %v", got, err, want)
	}
}

// keepsOff tries what is done while all hubs are stopped, on a hub that is, while another one works.
func (s *site) keepsOff(t *testing.T) {
	t.Helper()
	for name, do := range map[string]func() error{
		"restored":       func() error { _, err := hubdaemon.RaiseEpoch(t.Context(), s.hub); return err },
		"keys rotate":    func() error { _, err := hubdaemon.RotateSigning(t.Context(), s.hub); return err },
		"keys rotate-ca": func() error { return hubdaemon.RotateCA(t.Context(), s.hub, false, false) },
		"migrate":        func() error { _, err := hubdaemon.Migrate(t.Context(), s.hub, hubdaemon.MoveToFolder, nil); return err },
	} {
		if err := do(); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "works on it") || !strings.Contains(protocol.HintOf(err), "on all hosts") {
			t.Errorf("%s while another hub works: %v, hint %q", name, err, protocol.HintOf(err))
		}
	}
}

// shares has a hub keep its store on the cluster, under a name and with a folder, which gets the hub's keys.
func (s *site) shares(c *cluster, name, dir string) {
	s.t.Helper()
	if dir != s.hub.DataDir {
		if err := os.CopyFS(filepath.Join(dir, "pki"), os.DirFS(filepath.Join(s.hub.DataDir, "pki"))); err != nil {
			s.t.Fatal(err)
		}
		if out, err := exec.Command("chmod", "-R", "go=", dir).CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %s", err, out)
		}
		s.hub.DataDir = dir
	}
	on := &hubcluster.Config{Replicas: nodes, Name: name}
	s.toStore = nil
	for _, sv := range c.nodes {
		p := newProxy(s.t, sv.addr)
		s.toStore = append(s.toStore, p)
		on.URLs = append(on.URLs, "nats://"+p.listener.Addr().String())
	}
	if err := on.Check(); err != nil {
		s.t.Fatal(err)
	}
	s.hub.Store.NATS = on
}

// worker is the name of the hub that works the rack; empty of none.
func worker(t *testing.T, kv state.KV) string { return workers(t, kv)["rack."+rackName] }

// workers are the names of the hubs that work units, by the units' names; empty of none.
func workers(t *testing.T, kv state.KV) map[string]string {
	t.Helper()
	entries, _, err := kv.List(context.Background(), "")
	if err != nil {
		return nil
	}
	runs, owners := map[string]string{}, map[string]string{}
	for _, e := range entries {
		var h struct {
			Run   string
			Owner struct{ Hub string }
		}
		unit, isUnit := strings.CutPrefix(e.Key, "unit.")
		name, isHub := strings.CutPrefix(e.Key, "hub.")
		if !isUnit && !isHub {
			continue
		}
		if err := json.Unmarshal(e.Value, &h); err != nil {
			t.Fatal(err)
		}
		if isHub {
			runs[h.Run] = name
		} else {
			owners[unit] = h.Owner.Hub
		}
	}
	for unit, run := range owners {
		owners[unit] = runs[run]
	}
	return owners
}
