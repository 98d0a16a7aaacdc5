package site

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// BenchmarkEnforced is how long it takes from the request for a hold until the hub
// says that the agent has it on disk, as a client of the API sees it: two synced
// writes, two messages over the broker, and reading it back.
func BenchmarkEnforced(b *testing.B) {
	s := newSite(b, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.release(s.place("n1", "first", resource.HoldFenced).Metadata.Name)
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		h, err := s.client.Holds.Create(b.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}})
		if err != nil {
			b.Fatal(err)
		}
		id := h.Metadata.Name
		for h.Status.Word == resource.HoldAccepted {
			var ok bool
			if h, ok = get[*resource.Hold](s, id); !ok {
				b.Fatal("the hold is gone")
			}
		}
		took = append(took, time.Since(begin))
		b.StopTimer()
		s.release(id)
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
