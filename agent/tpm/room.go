package tpm

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/guard"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
)

const (
	// answerWithin is how long a challenge waits. A discrete TPM takes some ten seconds.
	answerWithin = 5 * time.Minute
	// maxWaiting bounds the challenges that wait; each is of another boot.
	maxWaiting = 1024
)

// Config is what the room is made of.
type Config struct {
	TPMs    *store.TPMs
	Servers Servers
	// Authorities are those of TPMs that the site trusts; none has nobody vouch for a TPM, which its
	// enrolment says.
	Authorities enrol.Authorities
	Random      io.Reader // of secrets
	Clock       state.Clock
	Logger      *slog.Logger
	Registerer  prometheus.Registerer
}

// Servers says what is known of servers; it is *store.Servers.
type Servers interface {
	View(server string) (store.View, error)
}

// Room has the challenges that wait. All methods are safe for concurrent use.
type Room struct {
	cfg Config
	met metrics

	answers sync.Mutex // one at a time is judged and kept: two may be of one TPM

	mu      sync.Mutex
	waiting map[string]challenged // by token: one of each boot
	quotes  map[string]asked      // likewise
}

// challenged is a TPM that was challenged.
type challenged struct {
	is     store.TPM
	secret enrol.Secret
	until  time.Time
}

// New makes a room. Challenges do not outlive it: who waits for one offers again.
func New(cfg Config) *Room {
	cfg.Logger = guard.Calm(cfg.Logger) // an image may offer as often as it likes
	r := &Room{cfg: cfg, waiting: map[string]challenged{}, quotes: map[string]asked{}}
	r.met = newMetrics(cfg.Registerer, r.count, r.countQuotes)
	return r
}

func (r *Room) count() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(len(r.waiting))
}

func (r *Room) countQuotes() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(len(r.quotes))
}

// Offer takes an offer in the boot of a server that has the token, and challenges it. One before it in
// the same boot is void. Errors: what the store says.
func (r *Room) Offer(server, token string, o enrol.Offer) (enrol.Challenge, Refusal, error) {
	now := r.cfg.Clock()
	endorsement, attestation, fault := o.Keys()
	is := store.TPM{Server: server, Endorsement: o.Endorsement, Attestation: o.Attestation, Certificate: o.Certificate, At: now}
	f := facts{fit: fault == enrol.NoFault}
	if f.fit {
		f.origin = enrol.Certificate(endorsement, o.Certificate, r.cfg.Authorities, now)
		is.Origin = string(f.origin)
	}
	why, err := r.judge(&is, f)
	if err == nil && why == OtherTPM {
		err = r.cfg.TPMs.Offered(server, o.Endorsement, now)
	}
	if err != nil || why != NoRefusal {
		return r.refuse(server, why, err, "fault", fault, "origin", f.origin)
	}
	ch, secret, err := enrol.NewChallenge(r.cfg.Random, endorsement, attestation)
	if err != nil {
		return r.refuse(server, Unchallenged, nil, "err", err)
	}
	if !r.wait(token, challenged{is, secret, now.Add(answerWithin)}, now) {
		return r.refuse(server, Busy, nil)
	}
	r.met.offers.Inc()
	return ch, NoRefusal, nil
}

// Answer takes the answer to the challenge of the boot that has the token, which is void then, and
// enrols the TPM: it is on disk when Answer returns. Errors: what the store says.
func (r *Room) Answer(server, token string, a enrol.Answer) (Refusal, error) {
	now := r.cfg.Clock()
	c, ok := r.take(token)
	why := NoRefusal
	switch {
	case !ok || c.is.Server != server || now.After(c.until):
		why = NoChallenge
	case !c.secret.Answered(a.Secret):
		why = WrongAnswer
	}
	if why != NoRefusal {
		_, _, _ = r.refuse(server, why, nil)
		return why, nil
	}
	r.answers.Lock()
	defer r.answers.Unlock()
	is := c.is
	was := is
	// The server may be another one since, and another TPM may have been quicker.
	why, err := r.judge(&is, facts{fit: true, origin: enrol.Origin(is.Origin)})
	if err == nil && why == NoRefusal && (is.ServerUID != was.ServerUID || is.Serial != was.Serial || is.UUID != was.UUID) {
		why = NoChallenge
	}
	if err == nil && why == OtherTPM {
		err = r.cfg.TPMs.Offered(server, is.Endorsement, now)
	}
	if err != nil || why != NoRefusal {
		_, _, err = r.refuse(server, why, err)
		return why, err
	}
	is.At = now
	if err := r.cfg.TPMs.Put(is); err != nil {
		return NoRefusal, err
	}
	r.met.enrolled.WithLabelValues(is.Origin).Inc()
	r.cfg.Logger.Info("the TPM of a server was enrolled", "server", server, "origin", is.Origin)
	return NoRefusal, nil
}

// judge says whether a TPM may be enrolled, and fills in whose it would be.
func (r *Room) judge(is *store.TPM, f facts) (Refusal, error) {
	v, err := r.cfg.Servers.View(is.Server)
	if err != nil {
		return NoRefusal, err
	}
	all, err := r.cfg.TPMs.All()
	if err != nil {
		return NoRefusal, err
	}
	f.server = v.Intent != nil && !v.Intent.Missing
	var who decide.Identity
	if k := v.Record.Identity; k != nil && k.Other == nil && (k.Trusted.Serial != "" || k.Trusted.UUID != "") {
		f.identity, who = true, k.Trusted
	}
	if f.server {
		is.ServerUID, is.Serial, is.UUID = v.Intent.UID, who.Serial, who.UUID
	}
	for _, t := range all {
		same := bytes.Equal(t.Endorsement, is.Endorsement)
		switch {
		case t.Server == is.Server:
			f.other = f.other || f.server && !same && t.Of(is.ServerUID, who)
		case same && !f.taken:
			o, err := r.cfg.Servers.View(t.Server)
			if err != nil {
				return NoRefusal, err
			}
			f.taken = o.Intent != nil && !o.Intent.Missing && o.Intent.UID == t.ServerUID
		}
	}
	return refusalOf(f), nil
}

// wait keeps a challenge. It returns false where too many wait.
func (r *Room) wait(token string, c challenged, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.waiting[token]; !again && len(r.waiting) >= maxWaiting {
		for token, c := range r.waiting {
			if now.After(c.until) {
				delete(r.waiting, token)
			}
		}
		if len(r.waiting) >= maxWaiting {
			return false
		}
	}
	r.waiting[token] = c
	return true
}

// take ends the wait of a challenge.
func (r *Room) take(token string) (challenged, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.waiting[token]
	delete(r.waiting, token)
	return c, ok
}

// refuse counts a refusal, and says it in the log.
func (r *Room) refuse(server string, why Refusal, err error, more ...any) (enrol.Challenge, Refusal, error) {
	if err != nil {
		return enrol.Challenge{}, why, protocol.Errorf(protocol.CodeUnavailable, "enrol TPM", "of %s: %w", server, err)
	}
	r.met.refused.WithLabelValues(string(why)).Inc()
	r.cfg.Logger.Warn("the TPM of a server was not enrolled", append([]any{"server", server, "refusal", why}, more...)...)
	return enrol.Challenge{}, why, nil
}
