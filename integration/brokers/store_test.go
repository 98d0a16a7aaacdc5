package brokers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	hubcluster "rackboot/hub/cluster"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestStoreOnServers: a hub's store is moved to three NATS servers and back, with an agent whose server is held
// throughout. While the servers that lead die, one after the other, each hold that is asked for is accepted, once, and
// nobody is told of it.
func TestStoreOnServers(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	s := newSite(t, 0, embedded)
	on := &hubcluster.Config{Replicas: nodes}
	for _, sv := range c.nodes {
		on.URLs = append(on.URLs, "nats://"+sv.addr)
	}
	if err := on.Check(); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	if _, err := s.client.Objects.Apply(t.Context(), s.manifests(), false); err != nil {
		t.Fatal(err)
	}
	s.join()
	s.startAgent()
	s.running("the disk boot after the installation")
	kept := s.hold("kept")
	s.word(kept, resource.HoldFenced)

	s.stopHub()
	s.hub.Store.NATS = on
	for _, point := range []string{"migrate.stream", "migrate.moved"} { // it dies, and is run again
		s.migrateAndDie(point)
	}
	moved := s.migrate(hubdaemon.MoveToNATS)
	if !moved.Already || moved.Aside == "" || exists(filepath.Join(s.hub.DataDir, "store", "jetstream")) || !exists(filepath.Join(moved.Aside, "jetstream")) {
		t.Fatalf("%+v", moved)
	}
	s.startHub()
	s.word(kept, resource.HoldFenced)

	const callers, deaths = 3, 2
	var mu sync.Mutex
	var ids []string
	var longest time.Duration
	over := make(chan struct{})
	var asking sync.WaitGroup
	for caller := range callers {
		asking.Go(func() {
			for i := 0; !closedYet(over); i++ {
				begun := time.Now()
				h, err := s.client.Holds.Create(t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: fmt.Sprintf("k%d-%d", caller, i), Mode: resource.StopHard}})
				if err != nil {
					t.Errorf("a hold while servers die: %v", err)
					return
				}
				mu.Lock()
				ids, longest = append(ids, h.Metadata.Name), max(longest, time.Since(begun))
				mu.Unlock()
				time.Sleep(100 * time.Millisecond) // a key has only so many holds
			}
		})
	}
	for range deaths {
		leader := c.leader()
		leader.kill()
		time.Sleep(commitDown)
		leader.start()
		c.leader()
	}
	close(over)
	asking.Wait()
	holds, err := s.client.Objects.List(t.Context(), resource.KindHold)
	if err != nil {
		t.Fatal(err)
	}
	var has []string
	for _, h := range holds {
		has = append(has, h.Head().Metadata.Name)
	}
	for _, id := range ids {
		if !slices.Contains(has, id) {
			t.Errorf("hold %s was accepted, and is not there", id)
		}
	}
	if len(has) != len(ids)+1 {
		t.Errorf("%d holds, and %d were accepted", len(has), len(ids)+1)
	}
	if len(ids) > 0 {
		s.word(ids[len(ids)-1], resource.HoldFenced)
	}
	t.Logf("%d holds while %d leaders died, longest %s", len(ids), deaths, longest.Round(time.Millisecond))

	s.stopHub()
	s.migrate(hubdaemon.MoveToFolder)
	if again := s.migrate(hubdaemon.MoveToFolder); !again.Already {
		t.Errorf("moved again: %+v", again)
	}
	s.hub.Store.NATS = nil
	s.startHub()
	s.word(kept, resource.HoldFenced)
	// The other store is behind from now on: nobody takes it for the hub's.
	s.word(s.hold("later"), resource.HoldFenced)
	s.stopHub()
	s.hub.Store.NATS = on
	if _, err := hubdaemon.Migrate(t.Context(), s.hub, hubdaemon.MoveToNATS, nil); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("moved over another store: %v", err)
	}
}

func (s *site) migrate(to hubdaemon.Move) hubdaemon.Moved {
	s.t.Helper()
	moved, err := hubdaemon.Migrate(s.t.Context(), s.hub, to, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return moved
}

// migrateAndDie runs a migration that ends at a point.
func (s *site) migrateAndDie(point string) {
	s.t.Helper()
	defer func() {
		if at := recover(); at != point {
			s.t.Fatalf("it died at %v, not at %s", at, point)
		}
	}()
	_, err := hubdaemon.Migrate(s.t.Context(), s.hub, hubdaemon.MoveToNATS, func(at string) {
		if at == point {
			panic(point)
		}
	})
	s.t.Fatalf("it did not die at %s: %v", point, err)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
