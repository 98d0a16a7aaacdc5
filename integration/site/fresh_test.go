package site

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestReadNow: what rackctl fence asks for before it says that a server is off. A receipt of
// before stands only where a read that begins after the question finds the server off, with the
// same proof: not when it was switched on since, when its BMC is silent, and when its agent is
// gone, whatever the hub still shows.
func TestReadNow(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stopAgent := s.startAgent(c)
	h := s.place("n1", "k", resource.HoldFenced)
	proof := *h.Status.Receipt
	read := func(within time.Duration) (resource.ServerRead, error) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return s.client.Servers.Read(ctx, "n1")
	}

	asked := time.Now()
	r, err := read(time.Minute)
	if err != nil || !r.Stands(proof) || r.StartedAt.Before(asked) || r.ReadAt.Before(r.StartedAt) {
		t.Fatalf("of a server that is off: %+v, %v; the receipt is %+v", r, err, proof)
	}
	if !slices.ContainsFunc(s.servers[0].BMC.Requests(), func(q bmcsim.Request) bool {
		return q.Method == http.MethodGet && strings.Contains(q.Path, "/Systems/") && q.At.After(asked) && !q.At.After(r.ReadAt)
	}) {
		t.Errorf("the BMC was not asked after %s: %+v", asked, s.servers[0].BMC.Requests())
	}

	s.servers[0].BMC.ExternalOn()
	if r, err := read(time.Minute); err != nil || r.Stands(proof) {
		t.Errorf("after it was switched on: %+v, %v", r, err)
	}
	h = s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.until("the new proof", func() bool {
		h = s.untilHold(h.Metadata.Name, resource.HoldFenced)
		return h.Status.Receipt != nil && h.Status.Receipt.StoppedSince.After(proof.StoppedSince)
	}, func() any { return h.Status })
	proof = *h.Status.Receipt
	if r, err := read(time.Minute); err != nil || !r.Stands(proof) {
		t.Errorf("proved anew: %+v, %v; the receipt is %+v", r, err, proof)
	}

	s.reach(0, bmcsim.ReachRefused)
	if r, err := read(time.Minute); err != nil || r.Power != protocol.PowerUnreachable || r.Error == "" || r.Stands(proof) {
		t.Errorf("of a BMC that refuses connections: %+v, %v", r, err)
	}
	s.reach(0, bmcsim.ReachOK)

	// The agent starts again: what its earlier run had proved stands no more.
	proof = *s.untilHold(h.Metadata.Name, resource.HoldFenced).Status.Receipt
	stopAgent()
	started := time.Now()
	stopAgent = s.startAgent(c)
	s.until("a read after the restart", func() bool {
		r, err = read(time.Minute)
		return err == nil
	}, func() any { return err })
	if r.Stands(proof) {
		t.Errorf("after the agent has started again: %+v; the receipt was %+v", r, proof)
	}
	s.until("the proof of this run", func() bool {
		h = s.untilHold(h.Metadata.Name, resource.HoldFenced)
		return h.Status.Receipt != nil && h.Status.Receipt.Run != proof.Run
	}, func() any { return h.Status })
	if proof = *h.Status.Receipt; proof.StoppedSince.Before(started) {
		t.Errorf("a proof of before its run: %+v", proof)
	}

	stopAgent()
	if r, err := read(3 * time.Second); err == nil || r.Stands(proof) {
		t.Errorf("without its agent: %+v", r)
	}
}
