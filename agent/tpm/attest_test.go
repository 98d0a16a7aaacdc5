package tpm_test

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"

	"rackboot/agent/store"
	"rackboot/agent/tpm"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/attest/pehash"
	"rackboot/netboot/attest/quotetest"
)

// recording is a boot of a unified kernel image, and what was expected of it.
type recording struct {
	log    []byte
	pcrs   map[int][]byte
	expect attest.Expectation
}

func recorded(t *testing.T) recording {
	t.Helper()
	raw, _ := logtest.Recorded(t, logtest.Unified)
	log, err := eventlog.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	values, err := log.Replay(eventlog.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	r := recording{log: raw, pcrs: map[int][]byte{}}
	for _, pcr := range attest.AskFor(nil).PCRs {
		r.pcrs[pcr] = values[pcr]
	}
	event := func(n int) []byte { return log.Events[n].Digest(eventlog.SHA256) }
	r.expect = attest.Expectation{Bank: eventlog.SHA256, Images: []attest.Item{{Name: "image", Digest: event(24)}, {Name: "kernel", Digest: event(33), Optional: true}}}
	for i := 25; i < 33; i += 2 {
		r.expect.Sections = append(r.expect.Sections, pehash.Measured{Name: log.Events[i].Text(), NameDigest: event(i), Digest: event(i + 1)})
	}
	return r
}

// by is the evidence that a key signs.
func (r recording) by(t *testing.T, s quotetest.Signer, nonce []byte) attest.Evidence {
	t.Helper()
	quote, signature := s.Quote(t, nonce, eventlog.SHA256, r.pcrs)
	return attest.Evidence{Quote: quote, Signature: signature, PCRs: r.pcrs, Log: r.log}
}

// enrol has a key enrolled for a server, without the way there.
func (r *rig) enrol(server, uid, serial string, s quotetest.Signer) {
	r.t.Helper()
	if err := r.tpms.Put(store.TPM{Server: server, ServerUID: uid, Serial: serial, Endorsement: []byte(server), Attestation: tpm2.Marshal(s.Area), At: r.now}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) ask(server, token string) []byte {
	r.t.Helper()
	a, err := r.Ask(server, token)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Nonce
}

func (r *rig) prove(server, token string, ev attest.Evidence, x attest.Expectation, want attest.Code) {
	r.t.Helper()
	if why, err := r.Prove(server, token, ev, x); err != nil || why != want {
		r.t.Errorf("%q, %v, want %q", why, err, want)
	}
}

func (r *rig) proved(server, token string, attested bool, want attest.Code) {
	r.t.Helper()
	if got, why := r.Proved(server, token); got != attested || why != want {
		r.t.Errorf("the report hears %t, %q, want %t, %q", got, why, attested, want)
	}
}

// A boot is attested by the server's own TPM, with the nonce of the boot, once; the verdict is of that boot only.
func TestAttested(t *testing.T) {
	r, own, boot := newRig(t), quotetest.ECDSA(t), recorded(t)
	r.enrol("n1", "u1", "S1", own)
	r.proved("n1", "t1", false, tpm.NoQuote)
	nonce := r.ask("n1", "t1")
	r.proved("n1", "t1", false, tpm.NoQuote)
	ev := boot.by(t, own, nonce)
	r.prove("n1", "t1", ev, boot.expect, "")
	r.proved("n1", "t1", true, "")
	r.proved("n1", "t2", false, tpm.NoQuote)
	r.proved("n2", "t1", false, tpm.NoQuote)
	r.prove("n1", "t1", ev, boot.expect, tpm.NoNonce) // again
	r.proved("n1", "t1", true, "")                    // of the first time
	r.now = r.now.Add(31 * time.Minute)
	r.proved("n1", "t1", false, tpm.NoQuote)

	// The machine boots once more by the same token: what it proved, or was asked, is of the boot before.
	r.prove("n1", "t1", boot.by(t, own, r.ask("n1", "t1")), boot.expect, "")
	r.Void("n2")
	r.proved("n1", "t1", true, "")
	r.Void("n1")
	r.proved("n1", "t1", false, tpm.NoQuote)
	ev = boot.by(t, own, r.ask("n1", "t1"))
	r.Void("n1")
	r.prove("n1", "t1", ev, boot.expect, tpm.NoNonce)
}

// Each forgery is refused by its code, which the report hears.
func TestForgeries(t *testing.T) {
	own, other, boot := quotetest.ECDSA(t), quotetest.ECDSA(t), recorded(t)
	log, err := eventlog.Parse(boot.log)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Clone(boot.log)
	at := bytes.Index(edited, log.Events[24].Digest(eventlog.SHA256))
	edited[at] ^= 1
	elsewhere := boot.expect
	elsewhere.Images = []attest.Item{{Name: "image", Digest: bytes.Repeat([]byte{1}, 32)}}
	for _, row := range []struct {
		name  string
		forge func(r *rig, nonce []byte) (attest.Evidence, attest.Expectation)
		want  attest.Code
	}{
		{"another TPM", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			return boot.by(t, other, nonce), boot.expect
		}, attest.WrongKey},
		{"a quote of another boot", func(*rig, []byte) (attest.Evidence, attest.Expectation) {
			return boot.by(t, own, bytes.Repeat([]byte{7}, 32)), boot.expect
		}, attest.WrongNonce},
		{"a nonce that is late", func(r *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			r.now = r.now.Add(5*time.Minute + time.Second)
			return boot.by(t, own, nonce), boot.expect
		}, tpm.NoNonce},
		{"a nonce before the last", func(r *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			r.ask("n1", "t1")
			return boot.by(t, own, nonce), boot.expect
		}, attest.WrongNonce},
		{"an edited log", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			ev := boot.by(t, own, nonce)
			ev.Log = edited
			return ev, boot.expect
		}, attest.LogDoesNotReplay},
		{"a log that was cut", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			ev := boot.by(t, own, nonce)
			ev.Log = ev.Log[:len(ev.Log)-3]
			return ev, boot.expect
		}, attest.UnreadableLog},
		{"an edited quote", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			ev := boot.by(t, own, nonce)
			ev.Quote[len(ev.Quote)-1] ^= 1
			return ev, boot.expect
		}, attest.BadSignature},
		{"other values", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			ev := boot.by(t, own, nonce)
			ev.PCRs = map[int][]byte{}
			return ev, boot.expect
		}, attest.WrongValues},
		{"another image than was served", func(_ *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			return boot.by(t, own, nonce), elsewhere
		}, attest.OtherImage},
		{"nothing", func(*rig, []byte) (attest.Evidence, attest.Expectation) { return attest.Evidence{}, boot.expect }, attest.UnreadableQuote},
		{"a TPM of before the board was changed", func(r *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			r.servers["n1"] = server("n1", "u1", "S9")
			return boot.by(t, own, nonce), boot.expect
		}, attest.NotEnrolled},
		{"a TPM that was forgotten", func(r *rig, nonce []byte) (attest.Evidence, attest.Expectation) {
			r.servers["n1"] = server("n1", "u9", "S1")
			return boot.by(t, own, nonce), boot.expect
		}, attest.NotEnrolled},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t)
			r.enrol("n1", "u1", "S1", own)
			ev, x := row.forge(r, r.ask("n1", "t1"))
			r.prove("n1", "t1", ev, x, row.want)
			if attested, why := r.Proved("n1", "t1"); attested || why != row.want && why != tpm.NoQuote {
				t.Errorf("the report hears %t, %q", attested, why)
			}
			r.proved("n1", "t2", false, tpm.NoQuote)
		})
	}
	r := newRig(t)
	nonce := r.ask("n1", "t1")
	r.prove("n1", "t1", boot.by(t, own, nonce), boot.expect, attest.NotEnrolled)
	r.proved("n1", "t1", false, attest.NotEnrolled)
	nonce = r.ask("n1", "t1")
	r.enrol("n1", "u1", "S1", own)
	r.enrol("n2", "u2", "S2", other)
	r.prove("n2", "t1", boot.by(t, other, nonce), boot.expect, tpm.NoNonce) // of another server
	r.prove("n1", "t1", boot.by(t, own, nonce), boot.expect, "")
	r.Doubt("n1", "t1", tpm.NoNonce)
	r.proved("n1", "t1", true, "")
}

// What waits is bounded, and what nobody answers gives its room back.
func TestManyQuotes(t *testing.T) {
	r := newRig(t)
	for n := range 1024 {
		r.ask("n1", "t"+strconv.Itoa(n))
	}
	if _, err := r.Ask("n1", "one more"); err == nil {
		t.Error("there is room for one more")
	}
	r.ask("n1", "t7")
	r.now = r.now.Add(5*time.Minute + time.Second)
	r.ask("n1", "one more")
}
