package site

import (
	"context"
	"maps"
	"sync"
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// watched is what somebody has who watches servers.
type watched struct {
	mu      sync.Mutex
	servers map[string]*resource.Server
	broken  int
}

func (s *site) watch() *watched {
	s.t.Helper()
	w := &watched{servers: map[string]*resource.Server{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	client := s.client
	go func() {
		defer close(ended)
		for c, err := range client.Objects.Watch(ctx, resource.KindServer, api.Query{}) {
			if err != nil {
				s.t.Errorf("the watch: %v", err)
				return
			}
			w.take(c)
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return w
}

func (w *watched) take(c api.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch c.Type {
	case api.ChangePut:
		w.servers[c.Name] = c.Object.(*resource.Server)
	case api.ChangeGone:
		delete(w.servers, c.Name)
	case api.ChangeBroken:
		w.broken++
	case api.ChangeSynced:
	}
}

func (w *watched) now() map[string]*resource.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.servers)
}

// TestWatch: who watches has what agents report, and over a restart of the hub what was written, and what went,
// before he was back.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	w := s.watch()
	until := func(what string, ok func(map[string]*resource.Server) bool) {
		t.Helper()
		s.until(what, func() bool { return ok(w.now()) }, func() any { return w.now() })
	}
	first, second := s.servers[0].Name, s.servers[1].Name
	until("both servers", func(all map[string]*resource.Server) bool { return len(all) == 2 && all[first] != nil })
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	until("what the agent reads", func(all map[string]*resource.Server) bool {
		return all[first].Status.Report != nil && all[first].Status.Report.Identity != ""
	})
	s.stopHub()
	s.until("the watch notices", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.broken > 0 }, func() any { return "it does not" })
	s.startHub()
	got, err := api.Get[*resource.Server](t.Context(), s.client, first)
	if err != nil {
		t.Fatal(err)
	}
	got.Metadata.Labels = map[string]string{"row": "7"}
	got.Metadata.Revision = 0
	s.apply(got)
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindServer, second); err != nil {
		t.Fatal(err)
	}
	until("what has changed, and what has gone", func(all map[string]*resource.Server) bool {
		return len(all) == 1 && all[first] != nil && all[first].Metadata.Labels["row"] == "7"
	})
	until("what the agent reads, again", func(all map[string]*resource.Server) bool {
		return all[first].Status.Report != nil && all[first].Status.Report.Identity != ""
	})
}
