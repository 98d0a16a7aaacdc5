package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// told is the agent as far as it is told what becomes of its certificate and keys.
type told interface {
	Tell(code resource.ConditionCode, so bool, detail string)
	Trust(keys ...ed25519.PublicKey)
	End(sealed []byte) error
	Over() bool
	HubTime() (at time.Time, words uint64)
}

// renewer keeps the agent's certificate, the hub's keys and the endpoints up to date.
type renewer struct {
	keep    *keeper
	agent   told
	apis    []string // of the agent's file; in place of those that the hub tells
	log     *slog.Logger
	metrics *renewMetrics
	up      func() bool   // the link is connected
	every   time.Duration // between two looks, at most

	news chan string // what the hub wants to be trusted; see agent.Config.News
	wait time.Duration
	next time.Time // when the hub may be asked again
	down int       // looks in a row at which the link was down
	ask  bool      // there is a reason to ask where the agent stands
	// again is set when the hub told news: it is asked once more, so that it knows that
	// the agent has them.
	again bool
}

const (
	lookEvery    = time.Minute
	looksPerLife = 60 // of a certificate that lives shortly
	renewWaitMin = 10 * time.Second
	renewWaitMax = time.Hour
	renewTimeout = 30 * time.Second
	downLooks    = 3                // then the hub is asked why
	newsSpread   = 10 * time.Second // over which a fleet asks that heard the same news
)

// hear is agent.Config.News. It does not wait.
func (r *renewer) hear(trust string) {
	if trust != "" && trust == r.keep.now().Answer.Standing.Digest() {
		return
	}
	select {
	case r.news <- trust:
	default: // one is enough
	}
}

// run looks until ctx ends, and then keeps the time.
func (r *renewer) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			r.floor(true)
			return nil
		case <-timer.C:
		case <-r.news:
			r.ask = true
			timer.Reset(rand.N(min(newsSpread, r.pause())))
			continue
		}
		r.look(ctx)
		timer.Reset(r.pause())
	}
}

// pause is the time between two looks.
func (r *renewer) pause() time.Duration {
	p := r.every
	if _, leaf, err := r.keep.now().pair(); err == nil {
		p = min(p, leaf.NotAfter.Sub(leaf.NotBefore)/looksPerLife)
	}
	return max(p, 10*time.Millisecond)
}

// floor takes what the hub said of the time, and tells whose clock is wrong.
func (r *renewer) floor(last bool) decide.ClockPlan {
	hub, words := r.agent.HubTime()
	plan := r.keep.floor.look(r.keep.now().begin(), hub, words)
	damaged := r.keep.floor.damage()
	if err := r.keep.floor.keep(last); err != nil {
		r.log.Error("the time was not kept", "err", err)
		damaged = errors.Join(damaged, err)
	}
	r.agent.Tell(resource.CondTimeDamaged, damaged != nil, errText(damaged))
	code, detail := plan.Off.Condition(), plan.Off.Describe(plan.By)
	for _, c := range []resource.ConditionCode{resource.CondClockBehind, resource.CondClockAhead, resource.CondHubClock, resource.CondClocksDiffer} {
		r.agent.Tell(c, c == code, detail)
	}
	r.metrics.clock(plan)
	return plan
}

// look decides what to do about the certificate, and does it.
func (r *renewer) look(ctx context.Context) {
	clocks := r.floor(false)
	if err := r.keep.settle(clocks); err != nil {
		r.log.Error("the spare certificate was not settled", "err", err)
	}
	id := r.keep.now()
	_, leaf, err := id.pair()
	if err != nil {
		r.log.Error("cannot read the certificate", "err", err)
		return
	}
	now := r.keep.clock()
	plan := decide.Certificate(clocks.Now, decide.CertificateSnapshot{
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, Jitter: jitterOf(id), Ended: r.agent.Over(),
	})
	r.metrics.expiry.Set(float64(leaf.NotAfter.Unix()))
	if !plan.Expiring {
		r.agent.Tell(resource.CondCertificateExpiring, false, "")
	}
	if r.down++; r.up() {
		r.down = 0
	}
	ask := r.ask || r.down >= downLooks
	if plan.Action == decide.CertificateRejoin || plan.Action == decide.CertificateKeep && !ask || now.Before(r.next) {
		if plan.Action == decide.CertificateRejoin && plan.Expiring {
			r.agent.Tell(resource.CondCertificateExpiring, true, "ended too long ago, "+leaf.NotAfter.UTC().Format(time.RFC3339)+"; the agent must join anew")
		}
		return
	}
	err = r.renew(ctx, id, plan.Action)
	if ctx.Err() != nil {
		return
	}
	r.after(err, now, plan, leaf.NotAfter)
}

// after plans the next time. An agent that is not connected asks as rarely as one whose
// questions fail, or hubs that are back would be asked by all at once.
func (r *renewer) after(err error, now time.Time, plan decide.CertificatePlan, notAfter time.Time) {
	limit := min(renewWaitMax, 60*r.pause())
	low := min(renewWaitMin, r.pause())
	if err == nil {
		r.ask, r.again, r.wait = r.again, false, 0
		// Whoever has the broker can send messages by keys that are not known, as many as
		// it likes; they make no agent ask the hub more often than this.
		r.next = now.Add(r.pause())
		if r.down >= downLooks {
			r.next = now.Add(limit/12 + rand.N(limit/12+1))
		}
		return
	}
	r.wait = min(limit, max(low, 3*r.wait))
	pause := low + rand.N(max(r.wait-low, 1))
	r.next = now.Add(pause)
	r.log.Warn("the hub could not be asked about certificate and keys", "action", plan.Action, "err", err, "retry_in", pause)
	if plan.Expiring {
		r.agent.Tell(resource.CondCertificateExpiring, true, "ends "+notAfter.UTC().Format(time.RFC3339)+": "+err.Error())
	}
}

// renew asks the hub's endpoints in turn. A refusal is of the hub, whichever endpoint
// it came by.
func (r *renewer) renew(ctx context.Context, id identity, action decide.CertificateAction) error {
	apis := r.apis
	if len(apis) == 0 {
		apis = id.apis()
	}
	if len(apis) == 0 {
		return protocol.Errorf(protocol.CodeInvalid, "renew", "no API of the hub is known: this agent joined with a release that kept none").
			WithHint("give link.api in the agent's file, or join anew")
	}
	var errs []error
	for _, url := range apis {
		err := r.renewAt(ctx, url, id, action, r.keep.time, false)
		for _, try := range r.otherTries(action) {
			if err == nil || ctx.Err() != nil {
				break
			}
			if r.renewAt(ctx, url, id, try.action, try.at, try.doubted) == nil {
				err = nil
			}
		}
		switch code := protocol.CodeOf(err); {
		case err == nil:
			return nil
		case code == protocol.CodeDenied:
			r.metrics.count(renewDenied)
		default:
			r.metrics.count(renewFailed)
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// try is one way to ask the hub.
type try struct {
	action decide.CertificateAction
	at     func() time.Time // by which its certificate is judged
	// doubted says that this is not the time that is believed.
	doubted bool
}

// otherTries are the ways that are left where the first one failed. By the hub's clock, which
// counts, it may be the other way round: a host that was off for long and has no battery does
// not know that its certificate ended. And an agent that is cut off, and whose own sources of
// the time contradict one another, tries the other time.
func (r *renewer) otherTries(action decide.CertificateAction) (out []try) {
	if action == decide.CertificateByKey || r.down >= downLooks {
		out = append(out, try{otherWay(action), r.keep.time, false})
	}
	if r.down >= downLooks && !r.keep.clocks().Other.IsZero() {
		out = append(out, try{decide.CertificateByKey, r.keep.other, true}, try{decide.CertificateRenew, r.keep.other, true})
	}
	return out
}

// otherWay is to show the certificate where it was not, and the other way round.
func otherWay(action decide.CertificateAction) decide.CertificateAction {
	if action == decide.CertificateByKey {
		return decide.CertificateRenew
	}
	return decide.CertificateByKey
}

func (r *renewer) renewAt(ctx context.Context, url string, id identity, action decide.CertificateAction, at func() time.Time, doubted bool) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	cfg := api.Config{BaseURL: url, CA: id.hubCA(), Time: at}
	if action != decide.CertificateByKey {
		cfg.Certificate, cfg.Key = id.Answer.Certificate, id.LinkKey
	}
	client, err := api.NewClient(cfg)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	seal, err := sealKey(r.keep.dataDir)
	if err != nil {
		return err
	}
	m := message.Renewal{Agent: id.Answer.Agent, Trust: id.Answer.Standing.Digest(), At: r.keep.clock(), SealKey: seal.Public()}
	next := id
	if action != decide.CertificateKeep {
		if next.LinkKey, m.CSR, err = newLinkKey(); err != nil {
			return err
		}
	}
	sealed, err := wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), wire.FactRenewal, m)
	if err != nil {
		return err
	}
	answer, err := client.Agents.Renew(ctx, api.RenewRequest{Agent: m.Agent, Renewal: sealed})
	if err != nil {
		return err
	}
	if doubted {
		// The hub's certificate is not one that is believed. Nothing that the hub or its
		// authority did not sign is taken from whoever has it: no endpoints, no authorities.
		answer.Standing = id.Answer.Standing
	}
	return r.take(id, next, m, answer, doubted)
}

// take puts what the hub answered on disk, and makes it count.
func (r *renewer) take(id, next identity, asked message.Renewal, answer api.RenewAnswer, doubted bool) error {
	if len(answer.Ended) > 0 {
		r.metrics.count(renewEnded)
		return r.agent.End(answer.Ended)
	}
	result := renewStanding
	if len(asked.CSR) > 0 {
		next.Answer.Certificate = answer.Certificate
		_, leaf, err := next.pair()
		if err != nil {
			return err
		}
		if leaf.Subject.CommonName != id.Answer.Agent {
			return protocol.Errorf(protocol.CodeDenied, "renew", "the hub's certificate is for %q", leaf.Subject.CommonName)
		}
		if doubted {
			if err := signedBy(leaf, id.hubCA(), id.brokerCA()); err != nil {
				return err
			}
		}
		result, next = renewRenewed, r.place(id, next, leaf)
	}
	keys, refused := id.Keys.Follow(answer.Standing.KeyStatements)
	if refused == nil {
		next.Keys, next.Answer.Standing = keys, answer.Standing
	} // else nothing of what it says to trust is taken; the certificate is, which trusts nobody
	r.agent.Tell(resource.CondKeysRefused, refused != nil, errText(refused))
	if err := r.keep.replace(next); err != nil {
		return err // which is said, and tried again
	}
	if !keys.Everyday.Equal(id.Keys.Everyday) {
		r.agent.Trust(keys.Everyday)
		r.log.Info("follows the hub's next key", "statements", len(keys.Statements))
	}
	r.metrics.count(result)
	if result == renewRenewed {
		r.agent.Tell(resource.CondCertificateExpiring, false, "")
		r.log.Info("certificate renewed")
	}
	r.again = refused == nil && answer.Standing.Digest() != asked.Trust
	return refused
}

// place is the identity with a new certificate: in the place of the present one, or as its
// spare.
func (r *renewer) place(id, next identity, leaf *x509.Certificate) identity {
	next.Spare = nil
	clocks := r.keep.clocks()
	_, present, err := id.pair()
	if err != nil || decide.NextCertificate(clocks.Source, spanOf(clocks.Now, present), spanOf(clocks.Now, leaf)) == decide.UseNext {
		return next
	}
	r.log.Warn("the hub's certificate does not fit the time; the present one stays, and it is kept as a spare",
		"not_before", leaf.NotBefore, "not_after", leaf.NotAfter, "now", clocks.Now)
	out := id
	out.Spare = &spare{next.Answer.Certificate, next.LinkKey}
	return out
}

// signedBy says why a certificate is not of one of the authorities, which are PEM, whatever the
// time is.
func signedBy(leaf *x509.Certificate, authorities ...[]byte) error {
	pool := x509.NewCertPool()
	for _, ca := range authorities {
		pool.AppendCertsFromPEM(ca)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return protocol.Errorf(protocol.CodeDenied, "renew", "the new certificate is not of the hub's authority: %w", err).
			WithHint("the present certificate stays; if the hub's authority was changed, it must be announced first: rackboot-hub keys rotate-ca")
	}
	return nil
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// jitterOf is a number in [0,1) that is the agent's own.
func jitterOf(id identity) float64 {
	sum := sha256.Sum256([]byte(id.Answer.Agent))
	return float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
}
