package claims

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A server may be installed over what there is, as far as a hub knows that hears nothing of the others: it does not say
// that this was decided already.
func TestWhatIsDecidedIsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := storetest.NewDeaf()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s, err := store.Open(ctx, store.Config{KV: k, Log: k.Memory, Clock: time.Now, NewID: rand.Text})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Run(ctx) }() // it returns nil
		if _, err := s.Sets.Apply(ctx, storetest.Site(), store.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		asked := api.AdoptRequest{Reprovision: true, Reason: "it is ours"}
		cl := storetest.Claim("c1", "n1")
		cl.Status.Server = "n1"
		cl.Status.Decision = &resource.Decision{Why: resource.DecisionFoundOn, Install: &resource.Confirmation{By: "ann", Reason: asked.Reason}}
		if err := s.Objects.Put(ctx, cl); err != nil {
			t.Fatal(err)
		}
		r := New(Config{Claims: s.Claims, Objects: s.Objects, Clock: time.Now, NewID: rand.Text})
		if _, err := r.AdoptServer(ctx, "n1", asked, "ann"); err != nil {
			t.Fatal(err)
		}
		s.Units.Share()
		if _, err := r.AdoptServer(ctx, "n1", asked, "ann"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%v", err)
		}
	})
}
