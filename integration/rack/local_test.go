package rack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent/local"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// socketPath is one that fits into a socket's address, whatever the test's name.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// lying are the reported holds that were not released.
func lying(r resource.ServerReport) (all []resource.HoldReport) {
	for _, h := range r.Holds {
		if h.Word != resource.HoldReleased {
			all = append(all, h)
		}
	}
	return all
}

// endedHere is the report of a hold's release at the agent.
func endedHere(id string) func(resource.ServerReport) bool {
	return func(r resource.ServerReport) bool {
		return slices.ContainsFunc(r.Holds, func(h resource.HoldReport) bool {
			return h.ID == id && h.Word == resource.HoldReleased && h.Released != nil && h.Released.HoldID == id
		})
	}
}

// TestLocalHold: with the hub away somebody at the agent holds a server. It is stopped
// and fenced, and stays so over a restart; the hub that comes back finds the hold in
// the report, takes it over with its id, and its release counts (P1).
func TestLocalHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = socketPath(t)
	c := local.NewClient(b.socket)
	server := b.servers[0].Name
	a, stop := b.start(nil)
	if _, err := c.Place(t.Context(), server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "smoke"}}); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("before any document: %v", err)
	}
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	b.link.mute(true)
	h, err := c.Place(t.Context(), server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "smoke", Mode: resource.StopHard, Reason: "smoke in row 7", Ref: "call 17"}})
	if err != nil {
		t.Fatal(err)
	}
	if b.idle(0) || h.ID != strings.ToLower(h.ID) || len(h.ID) != 26 || !h.Local || !strings.HasPrefix(h.Owner, local.OwnerPrefix) {
		t.Errorf("%+v", h)
	}
	told := func(r resource.ServerReport) bool {
		return fenced(r) && r.Holds[0].ID == h.ID && r.Holds[0].Hold != nil && *r.Holds[0].Hold == h.ActiveHold
	}
	b.until("the local hold's receipt", 0, told)
	s, err := c.Server(t.Context(), server)
	if err != nil || s.Explain.WaitsFor != local.WaitRelease || len(s.Holds) != 1 || s.Holds[0].Receipt == nil || s.Intent == nil || s.Intent.Boot.Grant != nil {
		t.Errorf("%+v, %v", s, err)
	}

	stop()
	if _, err := os.Lstat(b.socket); !os.IsNotExist(err) {
		t.Errorf("the socket of a stopped agent: %v", err)
	}
	a, _ = b.start(nil)
	b.until("the held server after the restart", 0, told)
	n := len(b.servers[0].BMC.History())
	b.servers[0].BMC.ExternalOn()
	b.until("the violation and a new receipt", 0, func(r resource.ServerReport) bool { return has(resource.CondHoldViolated)(r) && told(r) })
	b.forced(n)
	again, err := c.Place(t.Context(), server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "smoke", Mode: resource.StopHard, Reason: "smoke in row 7", Ref: "call 17"}})
	if err != nil || again.ID != h.ID {
		t.Errorf("the same again: %+v, %v", again, err)
	}

	b.link.mute(false)
	b.send(a) // made before the hub has heard of it
	b.until("the hold in the report", 0, func(r resource.ServerReport) bool { return told(r) && !has(resource.CondHoldMissing)(r) })
	b.holds = []resource.ActiveHold{*b.until("the hold", 0, told).Holds[0].Hold}
	b.send(a)
	b.until("the hub's hold", 0, func(r resource.ServerReport) bool {
		return fenced(r) && r.Holds[0].ID == h.ID && r.Holds[0].Hold == nil
	})
	if all, err := c.Holds(t.Context()); err != nil || len(all) != 1 || all[0].Local || all[0].Word != resource.HoldFenced || all[0].Owner != h.Owner {
		t.Errorf("%+v, %v", all, err)
	}
	b.release(a)
	b.until("the disk boot after the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
}

// TestLocalBreakGlass: with the hub away somebody at the agent releases the hub's
// hold, with a reason. The server runs, the hub's document that still names the hold
// does not stop it again, and reports say who and why until one does not name it.
func TestLocalBreakGlass(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = socketPath(t)
	c := local.NewClient(b.socket)
	a, stop := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	b.link.mute(true)
	if _, err := c.Release(t.Context(), "hold-1", api.ReleaseRequest{}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := c.Release(t.Context(), "hold-2", api.ReleaseRequest{BreakGlass: "it burns"}); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("another hold: %v", err)
	}
	for range 2 {
		h, err := c.Release(t.Context(), "hold-1", api.ReleaseRequest{BreakGlass: "hub is lost"})
		if err != nil || h.Released == nil || h.Released.Reason != "hub is lost" {
			t.Fatalf("%+v, %v", h, err)
		}
	}
	runs := func(r resource.ServerReport) bool { return endedHere("hold-1")(r) && len(lying(r)) == 0 && diskBoot(r) }
	r := b.until("the disk boot after the release", 0, runs)
	if e := r.Holds[0].Released; e.Reason != "hub is lost" || !strings.HasPrefix(e.By, local.OwnerPrefix) || e.At.IsZero() {
		t.Errorf("%+v", e)
	}
	resets := b.resets(0)

	stop()
	a, _ = b.start(nil)
	b.link.mute(false)
	b.send(a) // and names it
	seen := time.Now()
	b.until("reads after the document", 0, func(r resource.ServerReport) bool { return runs(r) && r.Observation.StartedAt.After(seen) })
	b.holds = nil
	b.send(a)
	b.until("the end of the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
	if got := b.resets(0); !slices.Equal(got, resets) {
		t.Errorf("resets %v after %v", got, resets)
	}
	if s, err := c.Status(t.Context()); err != nil || !s.Synced || s.Holds != 0 || s.Applied[message.LeafHold].Version != b.version {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestLocalAtOnce: people at the socket and documents of the hub come at once. No hold
// is lost, and none leaves the boot servers' gate open.
func TestLocalAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = socketPath(t)
	c := local.NewClient(b.socket)
	a, _ := b.start(nil)
	b.send(a)
	const each = 8
	done := make(chan error, each)
	for i := range each {
		go func() {
			_, err := c.Place(t.Context(), b.servers[0].Name, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: fmt.Sprint(i), Mode: resource.StopHard}})
			done <- err
		}()
	}
	for i := range each {
		b.hold(a, fmt.Sprintf("hold-%d", i), resource.StopHard)
	}
	for range each {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	b.release(a)
	b.until("the local holds", 0, func(r resource.ServerReport) bool { return len(r.Holds) == each && fenced(r) })
	if err := b.ask(0); err == nil {
		t.Error("a held server was served")
	}
	all, err := c.Holds(t.Context())
	if err != nil || len(all) != each {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, h := range all {
		if _, err := c.Release(t.Context(), h.ID, api.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
	}
	b.until("no hold", 0, func(r resource.ServerReport) bool { return len(lying(r)) == 0 })
}

// TestLocalSocketTaken: an agent does not start over the socket of another.
func TestLocalSocketTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0, bmcsim.Plain())
	b.socket = socketPath(t)
	l, err := local.Socket{Path: b.socket}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := startAgent(setup{
		Dir: b.dir, Key: b.key, Hub: b.hub.Public(), DHCP: b.dhcp, HTTP: b.http, TFTP: b.tftp, Socket: b.socket,
		credentials: b.creds, calls: b.calls, log: b.log,
	})
	if protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("%v", err)
	}
	if p != nil {
		_ = p.stop()
	}
}

// TestLocalConfirm: the BMC of a held server is gone, and somebody at the agent says
// that the server is down. The receipt says whose word it is and is no proof; when the
// BMC answers Off, the proof takes its place.
func TestLocalConfirm(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = socketPath(t)
	c := local.NewClient(b.socket)
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first read", 0, read)
	if err := b.servers[0].BMC.SetReach(bmcsim.ReachRefused); err != nil {
		t.Fatal(err)
	}
	h, err := c.Place(t.Context(), b.servers[0].Name, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "dead"}})
	if err != nil {
		t.Fatal(err)
	}
	b.until("the unreachable BMC", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerUnreachable })
	if s, err := c.Server(t.Context(), b.servers[0].Name); err != nil || s.Explain.WaitsFor != local.WaitReach {
		t.Errorf("%+v, %v", s.Explain, err)
	}
	if _, err := c.ConfirmDown(t.Context(), h.ID, api.ConfirmRequest{Reason: "both cables are out"}); err != nil {
		t.Fatal(err)
	}
	receipt := func(ok func(local.Hold) bool) func() bool {
		return func() bool {
			all, err := c.Holds(t.Context())
			return err == nil && len(all) == 1 && all[0].Receipt != nil && ok(all[0])
		}
	}
	b.eventually("the receipt on a word", receipt(func(h local.Hold) bool {
		m := h.Receipt.Manual
		return m != nil && m.By == h.Owner && m.Reason == "both cables are out" && h.Receipt.Reads == 0 && h.Word == resource.HoldEnforced
	}))
	if err := b.servers[0].BMC.SetReach(bmcsim.ReachOK); err != nil {
		t.Fatal(err)
	}
	b.eventually("the proof", receipt(func(h local.Hold) bool { return h.Word == resource.HoldFenced && h.Receipt.Manual == nil }))
}
