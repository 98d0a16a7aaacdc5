package broker

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Two hubs write the store of one server at the same moment. Of two servers with one MAC address one is
// there, two who place the same hold have the same one, one claim gets a server, and a BMC is deleted or has a server.
func TestTwoHubsOnOneServer(t *testing.T) {
	kv := hubKV(t)
	hubs := []*store.Store{following(t, kv), following(t, kv)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// both runs something at both hubs at once, and counts who is not refused.
	both := func(do func(n int, s *store.Store) error) (done int) {
		t.Helper()
		errs := make([]error, len(hubs))
		var running sync.WaitGroup
		for n, s := range hubs {
			running.Go(func() { errs[n] = do(n, s) })
		}
		running.Wait()
		for _, err := range errs {
			switch protocol.CodeOf(err) {
			case "":
				done++
			case protocol.CodeInvalid, protocol.CodeConflict, protocol.CodeNotFound:
			default:
				t.Error(err)
			}
		}
		return done
	}
	_, err := hubs[0].Sets.Apply(t.Context(), []resource.Object{storetest.Rack("r1"), storetest.Segment("boot", "r1")}, store.ApplyOptions{})
	must(err)
	for round := range 8 {
		name := func(what string, n int) string { return fmt.Sprintf("%s%d-%d", what, round, n) }
		mac := fmt.Sprintf("52:54:00:00:00:%02x", round)
		_, err := hubs[0].Sets.Apply(t.Context(), []resource.Object{
			storetest.BMC(name("b", 0), "r1"), storetest.BMC(name("b", 1), "r1"), storetest.BMC(name("b", 2), "r1"),
		}, store.ApplyOptions{})
		must(err)
		heard(t, hubs[1], resource.KindBMC, name("b", 2))
		if done := both(func(n int, s *store.Store) error {
			_, err := s.Sets.Apply(t.Context(), []resource.Object{storetest.Server(name("n", n), name("b", n), "boot", mac)}, store.ApplyOptions{})
			return err
		}); done != 1 {
			t.Errorf("%d servers have address %s", done, mac)
		}
		winner := store.Find(hubs[0].Objects, store.ServersByMAC, mac)
		if len(winner) != 1 {
			t.Fatalf("servers of %s: %v", mac, winner)
		}
		server := winner[0].Metadata.Name
		heard(t, hubs[1], resource.KindServer, server)
		ids := make([]string, len(hubs))
		if done := both(func(n int, s *store.Store) error {
			h, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", server))
			if err == nil {
				ids[n] = h.Metadata.Name
			}
			return err
		}); done != 2 || ids[0] != ids[1] {
			t.Errorf("%d placed holds %q", done, ids)
		}
		if done := both(func(n int, s *store.Store) error {
			c := storetest.Claim(name("c", n), server)
			if err := s.Objects.Put(t.Context(), c); err != nil {
				return err
			}
			c.Status.Server = server
			return s.Objects.Put(t.Context(), c)
		}); done != 1 {
			t.Errorf("%d claims have server %s", done, server)
		}
		gone := false
		done := both(func(n int, s *store.Store) error {
			if n == 0 {
				_, err := s.Delete(t.Context(), resource.KindBMC, name("b", 2))
				gone = err == nil
				return err
			}
			_, err := s.Sets.Apply(t.Context(), []resource.Object{storetest.Server(name("n", 2), name("b", 2), "boot", "52:54:00:00:01:01")}, store.ApplyOptions{})
			return err
		})
		if done != 1 {
			t.Errorf("%d of a deletion of a BMC and a server behind it were done", done)
		}
		if !gone {
			heard(t, hubs[0], resource.KindServer, name("n", 2))
			_, err := hubs[0].Delete(t.Context(), resource.KindServer, name("n", 2))
			must(err)
		}
	}
	again, err := store.Open(t.Context(), store.Config{KV: kv, Log: storetest.NewMemory(), Clock: time.Now, NewID: rand.Text, Healthy: func() error { return errWritten }})
	if err != nil {
		t.Errorf("rules had to be mended: %v", err)
	} else if n := len(store.List[*resource.Hold](again.Objects)); n != 8 {
		t.Errorf("%d holds", n)
	}
}

var errWritten = protocol.Errorf(protocol.CodeUnavailable, "write", "nothing may be written")

// heard waits until a hub has heard of what another one wrote.
func heard(t *testing.T, s *store.Store, kind resource.Kind, name string) {
	t.Helper()
	changed, stop := s.Subscribe()
	defer stop()
	for late := time.After(patience); ; {
		if _, err := s.Objects.Get(kind, name); err == nil {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("nothing was heard of %s %s", kind, name)
		}
	}
}
