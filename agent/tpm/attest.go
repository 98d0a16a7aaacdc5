package tpm

import (
	"io"
	"maps"
	"time"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
)

const (
	nonceSize = 32
	// provedFor is how long a verdict waits for the report that it is of.
	provedFor = 30 * time.Minute
)

// Why a boot is not attested, besides what package attest says of its evidence.
const (
	NoQuote    attest.Code = "no-quote"    // none came before the report
	NoNonce    attest.Code = "no-nonce"    // none waits for the quote: it is late, or comes a second time
	OtherChain attest.Code = "other-chain" // firmware was not given a unified kernel image: what came after is not known
	UnfitImage attest.Code = "unfit-image" // what will be measured of the image is not known; see pehash.Unified
)

// Doubts lists why a boot is not attested.
func Doubts() []attest.Code {
	return append(attest.Codes(), NoQuote, NoNonce, OtherChain, UnfitImage)
}

// asked is what a boot was asked, and what became of it.
type asked struct {
	server  string
	nonce   []byte // nil once it was used
	until   time.Time
	doubt   attest.Code
	settled bool // there is a verdict; attested, if it has no doubt
}

// Ask makes the nonce of the boot that has the token: a quote may have it within five minutes, once. What was asked or proved
// before in the same boot is void. Errors: unavailable, where too many wait.
func (r *Room) Ask(server, token string) (attest.Ask, error) {
	const op = "ask for a quote"
	nonce := make([]byte, nonceSize)
	if _, err := io.ReadFull(r.cfg.Random, nonce); err != nil {
		return attest.Ask{}, protocol.Errorf(protocol.CodeUnavailable, op, "read random bytes: %w", err)
	}
	now := r.cfg.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.quotes[token]; !again && len(r.quotes) >= maxWaiting {
		for token, q := range r.quotes {
			if now.After(q.until) {
				delete(r.quotes, token)
			}
		}
		if len(r.quotes) >= maxWaiting {
			return attest.Ask{}, protocol.Errorf(protocol.CodeUnavailable, op, "%d quotes are waited for", maxWaiting)
		}
	}
	r.quotes[token] = asked{server: server, nonce: nonce, until: now.Add(answerWithin)}
	return attest.AskFor(nonce), nil
}

// Prove takes the evidence of the boot that has the token, holds it against what was served, and keeps the verdict for the
// report. The nonce is used up by it. Errors: what the store says.
func (r *Room) Prove(server, token string, ev attest.Evidence, x attest.Expectation) (attest.Code, error) {
	now := r.cfg.Clock()
	nonce := r.takeNonce(server, token, now)
	if nonce == nil {
		r.Doubt(server, token, NoNonce)
		return NoNonce, nil
	}
	e, err := r.enrolled(server)
	if err != nil {
		return "", err
	}
	x.Nonce = nonce
	v := attest.Verify(e, ev, x)
	if !v.Attested() {
		first := v.Differences[0] // one there is, where nothing is attested
		r.cfg.Logger.Warn("the boot of a server is not attested", "server", server, "doubt", first.Code, "pcr", first.PCR, "event", first.Event, "differences", len(v.Differences))
		r.Doubt(server, token, first.Code)
		return first.Code, nil
	}
	r.settle(server, token, "", now)
	r.met.attestations.WithLabelValues("attested").Inc()
	r.cfg.Logger.Info("the boot of a server is attested", "server", server)
	return "", nil
}

// Doubt keeps why the boot that has the token is not attested, for its report.
func (r *Room) Doubt(server, token string, why attest.Code) {
	r.settle(server, token, why, r.cfg.Clock())
	r.met.attestations.WithLabelValues(string(why)).Inc()
}

// Proved says whether the boot of a server that has the token is attested, else why not.
func (r *Room) Proved(server, token string) (attested bool, why attest.Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok := r.quotes[token]
	if !ok || !q.settled || q.server != server || r.cfg.Clock().After(q.until) {
		return false, NoQuote
	}
	return q.doubt == "", q.doubt
}

// Void forgets what boots of a server were asked and have proved: it fetches its image anew, and what comes after that is
// another boot, also by the same token.
func (r *Room) Void(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.quotes, func(_ string, q asked) bool { return q.server == server })
}

// takeNonce uses the nonce of a boot up; nil where none waits.
func (r *Room) takeNonce(server, token string, now time.Time) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok := r.quotes[token]
	if !ok || q.server != server || now.After(q.until) {
		return nil
	}
	nonce := q.nonce
	q.nonce = nil
	r.quotes[token] = q
	return nonce
}

// settle keeps the first verdict since the boot was asked. Without that there is no place for one: no-quote is said of it.
func (r *Room) settle(server, token string, doubt attest.Code, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q, ok := r.quotes[token]; ok && q.server == server && !q.settled {
		r.quotes[token] = asked{server: server, until: now.Add(provedFor), doubt: doubt, settled: true}
	}
}

// enrolled is the TPM that counts for a server; the zero one where none does.
func (r *Room) enrolled(server string) (e attest.Enrolment, err error) {
	is, found, err := r.cfg.TPMs.Of(server)
	if err != nil || !found {
		return e, err
	}
	v, err := r.cfg.Servers.View(server)
	if err != nil {
		return e, err
	}
	k := v.Record.Identity
	if v.Intent == nil || v.Intent.Missing || k == nil || k.Other != nil || !is.Of(v.Intent.UID, k.Trusted) {
		return e, nil
	}
	e.Attestation, _ = enrol.AttestationKey(is.Attestation) // nil is enrolled for nothing
	return e, nil
}
