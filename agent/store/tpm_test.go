package store

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// tpmRig is a store whose document names a server.
type tpmRig struct {
	*Store
	t       *testing.T
	version uint64
}

func newTPMRig(t *testing.T) *tpmRig {
	t.Helper()
	s, err := Open(Config{DB: statetest.NewMemory(), NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	return &tpmRig{Store: s, t: t}
}

// apply has the document forget an enrolment.
func (r *tpmRig) apply(forget string) {
	r.t.Helper()
	r.version++
	d := message.RackDoc{
		Head: protocol.Head{Version: r.version}, Shards: 1, IssuedAt: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), Rack: &message.RackIntent{Name: "r"},
		Servers: []message.ServerIntent{{Server: "n1", UID: "u1", ForgetTPM: forget}},
	}
	if _, _, err := r.Documents.ApplyRack(d, forget, func(message.ServerIntent) (*Credentials, error) { return nil, nil }); err != nil {
		r.t.Fatal(err)
	}
}

func (r *tpmRig) put(is TPM) {
	r.t.Helper()
	if err := r.TPMs.Put(is); err != nil {
		r.t.Fatal(err)
	}
}

func (r *tpmRig) of() (TPM, bool) {
	r.t.Helper()
	is, found, err := r.TPMs.Of("n1")
	if err != nil {
		r.t.Fatal(err)
	}
	return is, found
}

// said are the messages of the events about TPMs.
func (r *tpmRig) said() (out []string) {
	r.t.Helper()
	err := r.disk.db.View(func(t state.Txn) error {
		all, err := waiting(t, 100)
		for _, e := range all {
			if e.Code == resource.EventTPM && e.Server == "n1" && !e.At.IsZero() {
				out = append(out, e.Message)
			}
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// A document has the enrolment forgotten that it names, and no other: not the same TPM, enrolled anew, although the
// document says so still.
func TestForgetTPM(t *testing.T) {
	r := newTPMRig(t)
	at := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	is := TPM{Server: "n1", ServerUID: "u1", Serial: "S1", Endorsement: []byte("ek"), Attestation: []byte("ak"), Origin: "vouched", At: at}
	r.apply("")
	r.put(is)
	r.apply("another")
	if got, found := r.of(); !found || got.Enrolment() != is.Enrolment() {
		t.Fatalf("%t, %+v", found, got)
	}
	r.apply(is.Enrolment())
	if got, found := r.of(); found {
		t.Fatalf("it was not forgotten: %+v", got)
	}
	again := is
	again.At = at.Add(time.Hour)
	r.put(again)
	r.apply(is.Enrolment())
	if got, found := r.of(); !found || !got.At.Equal(again.At) {
		t.Fatalf("the new enrolment went too: %t, %+v", found, got)
	}
	digest := EndorsementDigest([]byte("ek"))
	if want := []string{"enrolled: " + digest + ", vouched", "forgotten: " + digest, "enrolled: " + digest + ", vouched"}; !slices.Equal(r.said(), want) {
		t.Errorf("said %q, want %q", r.said(), want)
	}
}

// Of other TPMs the first is kept and said, however many are offered; the own one that is offered again takes that
// away, and stays the enrolment that it was.
func TestOfferedTPM(t *testing.T) {
	r := newTPMRig(t)
	at := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	is := TPM{Server: "n1", ServerUID: "u1", Endorsement: []byte("ek"), Origin: "no-authority", At: at}
	offer := func(key string) {
		t.Helper()
		if err := r.TPMs.Offered("n1", []byte(key), at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	offer("first") // nothing is enrolled
	r.put(is)
	for _, key := range []string{"first", "second", "third", "first"} {
		offer(key)
	}
	got, _ := r.of()
	if got.Other == nil || got.Other.Endorsement != EndorsementDigest([]byte("first")) || got.Enrolment() != is.Enrolment() || len(r.said()) != 2 {
		t.Errorf("%+v, said %q", got, r.said())
	}
	late := is
	late.At = at.Add(time.Hour)
	r.put(late)
	got, _ = r.of()
	if got.Other != nil || got.Enrolment() != is.Enrolment() || len(r.said()) != 2 {
		t.Errorf("%+v, said %q", got, r.said())
	}
}
