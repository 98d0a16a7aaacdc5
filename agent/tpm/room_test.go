package tpm_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/agent/tpm"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/quotetest"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state/statetest"
)

// servers are those of the rack, by name.
type servers map[string]store.View

func (s servers) View(name string) (store.View, error) { return s[name], nil }

// server has a name, an id of its Server and a serial number.
func server(name, uid, serial string) store.View {
	in := store.Intent{ServerIntent: message.ServerIntent{Server: name, UID: uid}}
	return store.View{Intent: &in, Record: decide.Record{Identity: &decide.Known{Trusted: decide.Identity{Serial: serial}}}}
}

// rig is a room on a clock of the test's, whose secrets the test knows: it answers as the TPM would.
type rig struct {
	*tpm.Room
	t       *testing.T
	servers servers
	tpms    *store.TPMs
	now     time.Time
	random  bytes.Buffer
}

func newRig(t *testing.T) *rig {
	t.Helper()
	st, err := store.Open(store.Config{DB: statetest.NewMemory(), NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, tpms: st.TPMs, now: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), servers: servers{"n1": server("n1", "u1", "S1"), "n2": server("n2", "u2", "S2")}}
	r.Room = tpm.New(tpm.Config{
		TPMs: st.TPMs, Servers: r.servers, Random: io.TeeReader(rand.Reader, &r.random), Clock: func() time.Time { return r.now },
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	return r
}

// chip is a TPM's offer.
func chip(t *testing.T) enrol.Offer {
	area := tpm2.ECCEKTemplate
	area.Unique = quotetest.ECDSA(t).Area.Unique
	return enrol.Offer{Endorsement: tpm2.Marshal(area), Attestation: quotetest.ECDSA(t).Key.Area()}
}

// offer offers, and returns the answer of the TPM with the keys.
func (r *rig) offer(server, token string, o enrol.Offer, want tpm.Refusal) enrol.Answer {
	r.t.Helper()
	r.random.Reset()
	ch, why, err := r.Offer(server, token, o)
	if err != nil || why != want || (len(ch.Blob) > 0) != (want == tpm.NoRefusal) {
		r.t.Fatalf("%s: %q, %v, want %q", server, why, err, want)
	}
	return enrol.Answer{Secret: bytes.Clone(r.random.Bytes()[:min(32, r.random.Len())])} // it is what was read first
}

func (r *rig) answer(server, token string, a enrol.Answer, want tpm.Refusal) {
	r.t.Helper()
	if why, err := r.Answer(server, token, a); err != nil || why != want {
		r.t.Fatalf("%s: %q, %v, want %q", server, why, err, want)
	}
}

func (r *rig) enrolled() []store.TPM {
	r.t.Helper()
	all, err := r.tpms.All()
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// The TPM that answers is the server's, with its identity, and it is said that nobody vouches for it.
func TestEnrol(t *testing.T) {
	r, own := newRig(t), chip(t)
	a := r.offer("n1", "t1", own, tpm.NoRefusal)
	if got := r.enrolled(); len(got) != 0 {
		t.Fatalf("before the answer: %+v", got)
	}
	r.answer("n1", "t1", a, tpm.NoRefusal)
	got := r.enrolled()
	if len(got) != 1 || got[0].Server != "n1" || got[0].ServerUID != "u1" || got[0].Serial != "S1" || got[0].Origin != string(enrol.NoCertificate) ||
		!bytes.Equal(got[0].Endorsement, own.Endorsement) || !bytes.Equal(got[0].Attestation, own.Attestation) {
		t.Fatalf("%+v", got)
	}
	r.now = r.now.Add(time.Hour)
	r.answer("n1", "t2", r.offer("n1", "t2", own, tpm.NoRefusal), tpm.NoRefusal)
	if again := r.enrolled(); !again[0].At.Equal(got[0].At) {
		t.Error("the same TPM again was written again")
	}
}

// Whoever is not the TPM, or too late, or repeats an answer, enrols nothing.
func TestRefusedAnswers(t *testing.T) {
	r, own := newRig(t), chip(t)
	r.answer("n1", "t1", enrol.Answer{}, tpm.NoChallenge)
	a := r.offer("n1", "t1", own, tpm.NoRefusal)
	r.answer("n1", "t1", enrol.Answer{Secret: make([]byte, 32)}, tpm.WrongAnswer)
	r.answer("n1", "t1", a, tpm.NoChallenge) // one try
	old := r.offer("n1", "t1", own, tpm.NoRefusal)
	r.offer("n1", "t1", own, tpm.NoRefusal)
	r.answer("n1", "t1", old, tpm.WrongAnswer)
	a = r.offer("n1", "t1", own, tpm.NoRefusal)
	r.answer("n2", "t1", a, tpm.NoChallenge)
	a = r.offer("n1", "t1", own, tpm.NoRefusal)
	r.answer("n1", "t2", a, tpm.NoChallenge) // of another boot
	r.now = r.now.Add(5*time.Minute + time.Second)
	r.answer("n1", "t1", a, tpm.NoChallenge)
	a = r.offer("n1", "t1", own, tpm.NoRefusal)
	r.servers["n1"] = server("n1", "u1", "S9") // the board was changed while it answered
	r.answer("n1", "t1", a, tpm.NoChallenge)
	a = r.offer("n1", "t1", own, tpm.NoRefusal)
	delete(r.servers, "n1")
	r.answer("n1", "t1", a, tpm.ServerGone)
	if got := r.enrolled(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A server has one TPM, and a TPM one server, until the server is another one.
func TestOtherTPM(t *testing.T) {
	r, own, other := newRig(t), chip(t), chip(t)
	late := r.offer("n1", "t0", other, tpm.NoRefusal)
	r.answer("n1", "t1", r.offer("n1", "t1", own, tpm.NoRefusal), tpm.NoRefusal)
	r.answer("n1", "t0", late, tpm.OtherTPM) // it was challenged first, and was not the quicker one
	r.offer("n1", "t2", other, tpm.OtherTPM)
	r.offer("n2", "t3", own, tpm.OtherServer)
	is := r.enrolled()[0]
	if is.Other == nil || is.Other.Endorsement != store.EndorsementDigest(other.Endorsement) {
		t.Errorf("that another one was offered is not kept: %+v", is.Other)
	}

	renewed := own
	renewed.Attestation = quotetest.ECDSA(t).Key.Area() // another key of the same TPM
	r.answer("n1", "t2", r.offer("n1", "t2", renewed, tpm.NoRefusal), tpm.NoRefusal)

	v := server("n1", "u1", "S1")
	v.Record.Identity.Other = &decide.Identity{Serial: "S9"}
	r.servers["n1"] = v
	r.offer("n1", "t4", other, tpm.NoIdentity) // before somebody accepted it
	r.servers["n1"] = server("n1", "u1", "")
	r.offer("n1", "t4", other, tpm.NoIdentity)
	r.servers["n1"] = server("n1", "u1", "S9")
	r.answer("n1", "t4", r.offer("n1", "t4", other, tpm.NoRefusal), tpm.NoRefusal)
	r.answer("n2", "t5", r.offer("n2", "t5", own, tpm.NoRefusal), tpm.NoRefusal) // the board is in n2 now
	r.servers["n2"] = server("n2", "u9", "S2")                                   // the Server was deleted, and applied again
	r.answer("n2", "t6", r.offer("n2", "t6", chip(t), tpm.NoRefusal), tpm.NoRefusal)
	if got := r.enrolled(); len(got) != 2 || !bytes.Equal(got[0].Endorsement, other.Endorsement) || got[0].Serial != "S9" {
		t.Errorf("%+v", got)
	}
}

// One TPM that answers for many servers at the same moment is one server's.
func TestOneServerAtOnce(t *testing.T) {
	r, own := newRig(t), chip(t)
	answers := map[string]enrol.Answer{}
	for n := range 8 {
		name := "m" + strconv.Itoa(n)
		r.servers[name] = server(name, "u-"+name, "S-"+name)
		answers[name] = r.offer(name, name, own, tpm.NoRefusal)
	}
	results := make(chan tpm.Refusal, len(answers))
	for name, a := range answers {
		go func() {
			why, err := r.Answer(name, name, a)
			if err != nil {
				t.Error(err)
			}
			results <- why
		}()
	}
	counts := map[tpm.Refusal]int{}
	for range answers {
		counts[<-results]++
	}
	if counts[tpm.NoRefusal] != 1 || counts[tpm.OtherServer] != 7 || len(r.enrolled()) != 1 {
		t.Errorf("%v, %d enrolled", counts, len(r.enrolled()))
	}
}

// What cannot be a TPM's is refused before anything is made for it.
func TestUnfit(t *testing.T) {
	r, own := newRig(t), chip(t)
	r.offer("n1", "t1", enrol.Offer{}, tpm.UnfitKey)
	r.offer("n1", "t1", enrol.Offer{Endorsement: own.Attestation, Attestation: own.Endorsement}, tpm.UnfitKey)
	own.Certificate = []byte("no certificate")
	r.offer("n1", "t1", own, tpm.Certificate)
	r.offer("n9", "t1", chip(t), tpm.ServerGone)
	r.answer("n1", "t1", enrol.Answer{}, tpm.NoChallenge)
}

// The challenges that wait are bounded, and those that nobody answers give their room back.
func TestBusy(t *testing.T) {
	r, own := newRig(t), chip(t)
	for n := range 1024 {
		r.offer("n1", "t"+strconv.Itoa(n), own, tpm.NoRefusal)
	}
	r.offer("n1", "one more", own, tpm.Busy)
	r.offer("n1", "t7", own, tpm.NoRefusal)
	r.now = r.now.Add(5*time.Minute + time.Second)
	r.answer("n1", "one more", r.offer("n1", "one more", own, tpm.NoRefusal), tpm.NoRefusal)
}
