package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"rackboot/protocol"
)

// login keeps an account of one BMC ready to authorize requests: by a session, or by basic
// authentication.
type login struct {
	wire        *exchanger
	account     *account
	report      *reporter
	host        *host
	store       SessionStore // nil: sessions are in memory only
	deniedPause time.Duration
	logger      *slog.Logger
}

func newLogin(wire *exchanger, h *host, config Config, logger *slog.Logger) *login {
	return &login{
		wire: wire, account: wire.account, report: wire.report, host: h,
		store: config.Sessions, deniedPause: config.DeniedPause, logger: logger,
	}
}

// ready makes the account ready to authorize requests: with the stored session,
// a new one, or basic authentication where the BMC has no sessions to give. The
// caller holds a turn of the BMC. renew is a token that the BMC did not accept.
func (l *login) ready(ctx context.Context, renew string) error {
	a := l.account
	select {
	case a.logging <- struct{}{}:
		defer func() { <-a.logging }()
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeUnavailable, opLogin, "gave up waiting for the login at BMC %s: %w", l.report.base, context.Cause(ctx)).
			WithHint("nothing was sent to the BMC")
	}
	ready, dropped := a.ready(renew, time.Now())
	if dropped {
		l.forget()
	}
	if ready {
		return nil
	}
	if s, ok := l.stored(); ok && s.Token != renew {
		a.use(loginSession, s, "", time.Time{})
		return nil
	}
	uri, why, err := l.sessionsURI(ctx)
	if err != nil {
		return err
	}
	if uri == "" {
		l.useBasic(why, time.Now().Add(sessionCap))
		return nil
	}
	return l.openSession(ctx, uri)
}

// useBasic sends the credentials with each request from now on.
func (l *login) useBasic(why string, until time.Time) {
	l.account.use(loginBasic, session{}, why, until)
	l.logger.Info("basic authentication is used", "why", why)
}

// sessionsURI finds where to log in; empty, with the reason, if nowhere. The
// service root is read without credentials (DSP0266 lets everybody read it).
func (l *login) sessionsURI(ctx context.Context) (uri, why string, err error) {
	resp, body, err := l.wire.exchange(ctx, request{op: opLogin, method: http.MethodGet, uri: rootURI, open: true})
	if _, answered := errors.AsType[*answer](err); answered {
		return "", "the service root is not usable", nil
	}
	if err != nil {
		return "", "", err
	}
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests:
		return "", "", l.report.statusError(opLogin, resp, body)
	case resp.StatusCode != http.StatusOK:
		return "", "the service root cannot be read without credentials", nil
	}
	uri = linkOf(fields(fields(body)["Links"])["Sessions"])
	if uri == "" || checkURI(uri) != nil {
		return "", "the service root names no sessions", nil
	}
	return uri, "", nil
}

// openSession logs in once.
func (l *login) openSession(ctx context.Context, uri string) error {
	a := l.account
	form := map[string]string{"UserName": a.credentials.Username, "Password": a.credentials.Password}
	resp, body, err := l.wire.exchange(ctx, request{op: opLogin, method: http.MethodPost, uri: uri, payload: form, open: true})
	if err != nil {
		return err
	}
	said := parseMessage(body)
	switch status := resp.StatusCode; {
	case said.is(sessionMessages), status == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "":
		// Whatever the status: 503 (Dell), 403 and 429 are known. A refusal of the credentials
		// names itself, or is 401 or 403 without a word of sessions.
		l.useBasic("the BMC has no session left", time.Now().Add(sessionCap))
		fault := l.report.faultOf(status, said)
		fault.Kind = protocol.FaultSessions
		a.note(fault)
		return nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden, said.is(loginMessages):
		return l.denied(opLogin, resp, body)
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return l.report.statusError(opLogin, resp, body)
	case status >= 300:
		l.useBasic("the BMC refused the form of the login", time.Time{})
		return nil
	}
	s := session{URI: createdAt(resp.Header.Get("Location"), body), Token: resp.Header.Get("X-Auth-Token")}
	if s.Token == "" {
		l.useBasic("the BMC gave no token", time.Time{})
		return nil
	}
	a.use(loginSession, s, "", time.Time{})
	if b, err := json.Marshal(s); err == nil && l.store != nil {
		if err := l.store.Save(a.sessionKey(), b); err != nil {
			l.logger.Warn("session is not kept", "err", err)
		}
	}
	return nil
}

// stored is the session of an earlier process.
func (l *login) stored() (session, bool) {
	if l.store == nil {
		return session{}, false
	}
	b, err := l.store.Load(l.account.sessionKey())
	if err != nil {
		l.logger.Warn("kept session cannot be read", "err", err)
		return session{}, false
	}
	var s session
	if len(b) == 0 || json.Unmarshal(b, &s) != nil || s.Token == "" || s.URI != "" && checkURI(s.URI) != nil {
		return session{}, false
	}
	return s, true
}

func (l *login) forget() {
	if l.store == nil {
		return
	}
	if err := l.store.Delete(l.account.sessionKey()); err != nil {
		l.logger.Warn("kept session is not forgotten", "err", err)
	}
}

// denied stops all use of these credentials for the pause.
func (l *login) denied(op string, resp *http.Response, body []byte) error {
	now := time.Now()
	l.host.refuse(l.account.credentials, now.Add(l.deniedPause), now)
	e := l.report.statusError(op, resp, body)
	e.Code = protocol.CodeDenied
	return e
}

// anew logs in with the credentials themselves, whatever session there was. The caller
// holds a turn of the BMC.
func (l *login) anew(ctx context.Context) error {
	l.account.end()
	l.forget()
	uri, why, err := l.sessionsURI(ctx)
	switch {
	case err != nil:
		return err
	case uri == "":
		l.useBasic(why, time.Now().Add(sessionCap))
		return nil
	}
	return l.openSession(ctx, uri)
}
