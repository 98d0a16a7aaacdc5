package events

import (
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// Who audits a hold for somebody who hurries waits for nobody who gives way, though a hold is audited by one
// at a time.
func TestAuditInHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := storetest.NewMemory()
		s, err := store.Open(t.Context(), store.Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		log, err := Open(t.Context(), Config{Store: s, Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		hold := func(name string) *resource.Hold {
			h := storetest.Hold("o", name, "n1")
			at := time.Now()
			h.Metadata.Name, h.Metadata.CreatedAt = name, &at
			return h
		}
		defer s.Haste.Hurry()()
		patient := make(chan time.Time, 1)
		begun := time.Now()
		go func() {
			if err := log.AuditHold(store.Patient(t.Context()), hold("h1")); err != nil {
				t.Error(err)
			}
			patient <- time.Now()
		}()
		// While it gives way, and after.
		for i, name := range []string{"h2", "h3"} {
			time.Sleep(time.Duration(i) * 60 * time.Millisecond)
			synctest.Wait()
			came := time.Now()
			if err := log.AuditHold(t.Context(), hold(name)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(came); took != 0 || !log.Audited(resource.EventHoldAccepted, name) {
				t.Errorf("who hurries waited %s for %s", took, name)
			}
		}
		if at := <-patient; at.Equal(begun) || !log.Audited(resource.EventHoldAccepted, "h1") {
			t.Errorf("who gives way waited %s", at.Sub(begun))
		}
	})
}
