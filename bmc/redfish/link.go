package redfish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"rackboot/protocol"
)

// logoutTimeout bounds what Close waits for; the BMC drops the session itself
// after its own timeout.
const logoutTimeout = 3 * time.Second

// link does the exchanges with one BMC for one system: each in its turn, with the login of
// its account.
type link struct {
	base    *url.URL
	host    *host
	account *account
	report  *reporter
	wire    *exchanger
	login   *login
	metrics *metrics
	logger  *slog.Logger
	closed  atomic.Bool
}

func newLink(config Config, h *host, a *account, m *metrics) *link {
	report := newReporter(a.base, a, config.DeniedPause)
	wire := newExchanger(a, report, config)
	logger := config.Logger.With("bmc", a.base.Host)
	return &link{
		base: a.base, host: h, account: a, report: report, wire: wire,
		login:   newLogin(wire, h, config, logger),
		metrics: m, logger: logger,
	}
}

// do sends one request and reads the whole answer. The answer's body is in
// memory. Every error is a *protocol.Error without secrets. A write is sent a
// second time only where the BMC refused the session and so did nothing.
func (l *link) do(ctx context.Context, r request) (*http.Response, error) {
	if err := checkURI(r.uri); err != nil {
		return nil, l.report.unusable(r.op, fmt.Sprintf("it names %.200q, which is not a path on it", r.uri))
	}
	lane := l.host.power
	if r.slow {
		lane = l.host.inventory
	}
	leave, err := lane.enter(ctx, r.op, r.urgent)
	if err != nil {
		return nil, err
	}
	defer leave()
	if l.closed.Load() {
		return nil, protocol.Errorf(protocol.CodeUnavailable, r.op, "the driver for BMC %s is closed", l.base).
			WithHint("open it again; nothing was sent to the BMC")
	}
	if pause := l.host.refusal(l.account.credentials, time.Now()); pause > 0 {
		return nil, l.report.deniedBefore(r.op, pause)
	}
	if err := l.host.breaker.pass(r.op, time.Now(), r.urgent); err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := l.authorized(ctx, r)
	took := time.Since(start)
	if l.closed.Load() { // closed meanwhile: leave no connection behind
		l.account.client.CloseIdleConnections()
	}
	l.metrics.done(r.op, took, err)
	l.logger.Debug("BMC request", "op", r.op, "method", r.method, "uri", r.uri, "took", took, "code", protocol.CodeOf(err))
	return resp, err
}

// renewals is how often a request renews a session that the BMC does not know any more. One that
// has just begun may be gone too: with the BMC, which restarted.
const renewals = 2

// authorized sends the request with the account's login, which it makes or renews. A BMC that
// refuses sessions as soon as it has granted them has not refused the credentials: it is unavailable, and
// asked again as one that does not answer.
func (l *link) authorized(ctx context.Context, r request) (*http.Response, error) {
	for refused, renewed := "", 0; ; {
		if err := l.login.ready(ctx, refused); err != nil {
			return nil, l.settle(ctx, err)
		}
		resp, body, err := l.wire.exchange(ctx, r)
		if err != nil {
			return nil, l.settle(ctx, err)
		}
		l.host.breaker.answered()
		used := resp.Request.Header.Get("X-Auth-Token")
		switch {
		case resp.StatusCode == http.StatusUnauthorized && used != "" && renewed < renewals:
			refused = used // the session ended: once more with a new one
			renewed++
			continue
		case resp.StatusCode == http.StatusUnauthorized && used != "":
			e := l.report.statusError(r.op, resp, body)
			e.Code = protocol.CodeUnavailable
			l.host.breaker.failed(e, time.Now())
			return nil, e
		case resp.StatusCode == http.StatusUnauthorized:
			return nil, l.login.denied(r.op, resp, body)
		case resp.StatusCode >= 300:
			return nil, l.report.statusError(r.op, resp, body)
		}
		resp.Body = &inMemory{bytes.NewReader(body), body}
		return resp, nil
	}
}

// inMemory is an answer's body, all of which was read.
type inMemory struct {
	*bytes.Reader

	all []byte
}

// Close implements io.Closer.
func (*inMemory) Close() error { return nil }

// settle tells the breaker of an exchange that failed, if that was the BMC's
// doing: a caller that gave up says nothing about the BMC.
func (l *link) settle(ctx context.Context, err error) error {
	_, answered := errors.AsType[*answer](err)
	switch {
	case answered:
		l.host.breaker.answered()
	case ctx.Err() != nil, protocol.CodeOf(err) == protocol.CodeDenied:
		l.host.breaker.skip()
	default:
		l.host.breaker.failed(err, time.Now())
	}
	return err
}

// stream sends a GET whose answer is read as it comes, beside the queues. The caller closes the
// answer's body. The error is a *protocol.Error if there was nothing to send, else that of the
// HTTP client.
func (l *link) stream(ctx context.Context, op, uri, accept string) (*http.Response, error) {
	req, err := l.wire.request(ctx, request{op: op, method: http.MethodGet, uri: uri, headers: map[string]string{"Accept": accept}}, "identity")
	if err != nil {
		return nil, err
	}
	return l.account.client.Do(req)
}

// username is the user of the account.
func (l *link) username() string { return l.account.credentials.Username }

// token tells one session from another; empty for basic authentication.
func (l *link) token() string { return l.account.token() }

// loginWords say how the account is logged in, for people.
func (l *link) loginWords() string { return l.account.say() }

// sessionFault is what the BMC said when it had no session left; the zero value otherwise.
func (l *link) sessionFault() protocol.BMCFault { return l.account.full() }

// allowChange lets an account be used for the change of its password, for which a BMC refuses
// all else: by basic authentication where there is no session.
func (l *link) allowChange() {
	l.host.forgive(l.account.credentials)
	if l.account.token() == "" {
		l.login.useBasic("the password must be changed", time.Now().Add(sessionCap))
	}
}

// anew logs in with the credentials themselves, in a turn of its own, also where they were
// refused before.
func (l *link) anew(ctx context.Context, op string) error {
	l.host.forgive(l.account.credentials)
	leave, err := l.host.power.enter(ctx, op, false)
	if err != nil {
		return err
	}
	defer leave()
	if err := l.host.breaker.pass(op, time.Now(), false); err != nil {
		return err
	}
	if err := l.login.anew(ctx); err != nil {
		return l.settle(ctx, err)
	}
	l.host.breaker.answered()
	return nil
}

// logout deletes the session. One that cannot be deleted stays in the store, for
// the next start to use or delete.
func (l *link) logout() {
	a := l.account
	s := a.end()
	if s.Token == "" || s.URI == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
	defer cancel()
	leave, err := l.host.power.enter(ctx, opLogout, false)
	if err != nil {
		return
	}
	defer leave()
	if l.host.breaker.pass(opLogout, time.Now(), false) != nil {
		return
	}
	resp, _, err := l.wire.exchange(ctx, request{op: opLogout, method: http.MethodDelete, uri: s.URI, open: true, token: s.Token})
	if err != nil {
		l.host.breaker.failed(err, time.Now())
	} else {
		l.host.breaker.answered()
	}
	if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusNotFound {
		l.logger.Info("session could not be ended; the BMC will", "err", err)
		return
	}
	l.login.forget()
}

// close lets calls that run end as they would; later ones are unavailable.
func (l *link) close() { l.closed.Store(true) }
