package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/wire"
)

// told is the agent as far as it is told what becomes of its certificate and keys.
type told interface {
	Tell(code protocol.ConditionCode, so bool, message string)
	Trust(keys ...ed25519.PublicKey)
	End(sealed []byte) error
	Over() bool
	HubTime() time.Time
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

func (r *renewer) floor(last bool) {
	r.keep.floor.raise(r.agent.HubTime())
	if err := r.keep.floor.keep(last); err != nil {
		r.log.Error("the time was not kept", "err", err)
		r.agent.Tell(protocol.CondStoreFailing, true, err.Error())
	}
}

// look decides what to do about the certificate, and does it.
func (r *renewer) look(ctx context.Context) {
	r.floor(false)
	id := r.keep.now()
	_, leaf, err := id.pair()
	if err != nil {
		r.log.Error("cannot read the certificate", "err", err)
		return
	}
	now := r.keep.clock()
	plan := decide.Certificate(now, decide.CertificateSnapshot{
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, Floor: r.keep.floor.now(), Jitter: jitterOf(id), Ended: r.agent.Over(),
	})
	r.metrics.expiry.Set(float64(leaf.NotAfter.Unix()))
	r.agent.Tell(protocol.CondClockBehind, plan.Behind, "the clock shows "+now.UTC().Format(time.RFC3339)+", and it is "+plan.Now.UTC().Format(time.RFC3339)+" at least")
	if !plan.Expiring {
		r.agent.Tell(protocol.CondCertificateExpiring, false, "")
	}
	if r.down++; r.up() {
		r.down = 0
	}
	ask := r.ask || r.down >= downLooks
	if plan.Action == decide.CertificateRejoin || plan.Action == decide.CertificateKeep && !ask || now.Before(r.next) {
		if plan.Action == decide.CertificateRejoin && plan.Expiring {
			r.agent.Tell(protocol.CondCertificateExpiring, true, "ended too long ago, "+leaf.NotAfter.UTC().Format(time.RFC3339)+"; the agent must join anew")
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
		r.agent.Tell(protocol.CondCertificateExpiring, true, "ends "+notAfter.UTC().Format(time.RFC3339)+": "+err.Error())
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
		err := r.renewAt(ctx, url, id, action)
		if err != nil && (action == decide.CertificateByKey || r.down >= downLooks) && ctx.Err() == nil {
			// By the hub's clock, which counts, it may be the other way round: a host that
			// was off for long and has no battery does not know that its certificate ended.
			if r.renewAt(ctx, url, id, otherWay(action)) == nil {
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

// otherWay is to show the certificate where it was not, and the other way round.
func otherWay(action decide.CertificateAction) decide.CertificateAction {
	if action == decide.CertificateByKey {
		return decide.CertificateRenew
	}
	return decide.CertificateByKey
}

func (r *renewer) renewAt(ctx context.Context, url string, id identity, action decide.CertificateAction) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	cfg := api.Config{BaseURL: url, CA: id.hubCA(), Time: r.keep.time}
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
	m := protocol.Renewal{Agent: id.Answer.Agent, Trust: id.Answer.Standing.Digest(), At: r.keep.clock(), SealKey: seal.Public()}
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
	answer, err := client.Renew(ctx, api.RenewRequest{Agent: m.Agent, Renewal: sealed})
	if err != nil {
		return err
	}
	return r.take(id, next, m, answer)
}

// take puts what the hub answered on disk, and makes it count.
func (r *renewer) take(id, next identity, asked protocol.Renewal, answer api.RenewAnswer) error {
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
		result = renewRenewed
	}
	keys, refused := id.Keys.Follow(answer.Standing.KeyStatements)
	if refused == nil {
		next.Keys, next.Answer.Standing = keys, answer.Standing
	} // else nothing of what it says to trust is taken; the certificate is, which trusts nobody
	r.agent.Tell(protocol.CondKeysRefused, refused != nil, errText(refused))
	if err := r.keep.replace(next); err != nil {
		r.agent.Tell(protocol.CondStoreFailing, true, err.Error())
		return err
	}
	if !keys.Everyday.Equal(id.Keys.Everyday) {
		r.agent.Trust(keys.Everyday)
		r.log.Info("follows the hub's next key", "statements", len(keys.Statements))
	}
	r.metrics.count(result)
	if result == renewRenewed {
		r.agent.Tell(protocol.CondCertificateExpiring, false, "")
		r.log.Info("certificate renewed")
	}
	r.again = refused == nil && answer.Standing.Digest() != asked.Trust
	return refused
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
