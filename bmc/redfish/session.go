package redfish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rackboot/protocol"
)

const (
	opLogin  = "bmc.login"
	opLogout = "bmc.logout"
	// logoutTimeout bounds what Close waits for; the BMC drops the session itself
	// after its own timeout.
	logoutTimeout = 3 * time.Second
	// sessionCap is how long basic authentication is used after the BMC had no
	// session left (Dell RAC0218; Supermicro holds 16), or no way to one. A login
	// whose form it refused is not tried again: it might count as a failed one.
	sessionCap = 10 * time.Minute
)

// SessionStore keeps the sessions over a restart of the process, so that a BMC
// does not run out of them. What it stores is secret. It is called with one
// BMC's queue held: it must be quick, and safe for concurrent use.
type SessionStore interface {
	// Load returns what Save stored, or nil without an error.
	Load(key string) ([]byte, error)
	Save(key string, session []byte) error
	Delete(key string) error
}

// key names the account in the session store: the BMC, and a digest of the user
// and of what the BMC is trusted by, so that a token is sent to nobody else.
func (a *account) sessionKey() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{a.credentials.Username, a.key.fingerprint, a.key.ca}, "\x00")))
	return a.base.Host + "/" + hex.EncodeToString(sum[:8])
}

// login makes the account ready to authorize requests: with the stored session,
// a new one, or basic authentication where the BMC has no sessions to give. The
// caller holds a turn of the BMC. renew is a token that the BMC did not accept.
func (l *link) login(ctx context.Context, renew string) error {
	a := l.account
	select {
	case a.logging <- struct{}{}:
		defer func() { <-a.logging }()
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeUnavailable, opLogin, "gave up waiting for the login at BMC %s: %w", l.base, context.Cause(ctx)).
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
func (l *link) useBasic(why string, until time.Time) {
	l.account.use(loginBasic, session{}, why, until)
	l.logger.Info("basic authentication is used", "why", why)
}

// sessionsURI finds where to log in; empty, with the reason, if nowhere. The
// service root is read without credentials (DSP0266 lets everybody read it).
func (l *link) sessionsURI(ctx context.Context) (uri, why string, err error) {
	resp, body, err := l.exchange(ctx, request{op: opLogin, method: http.MethodGet, uri: rootURI, open: true})
	if _, answered := errors.AsType[*answer](err); answered {
		return "", "the service root is not usable", nil
	}
	if err != nil {
		return "", "", err
	}
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests:
		return "", "", l.statusError(opLogin, resp, body)
	case resp.StatusCode != http.StatusOK:
		return "", "the service root cannot be read without credentials", nil
	}
	uri = linkOf(fields(fields(body)["Links"])["Sessions"])
	if uri == "" || checkURI(uri) != nil {
		return "", "the service root names no sessions", nil
	}
	return uri, "", nil
}

// loginMessages say that it is the credentials that were refused, with whatever
// status (iLO answers 400 UnauthorizedLoginAttempt).
var loginMessages = []string{
	"UnauthorizedLoginAttempt", "NoValidSession", "InsufficientPrivilege", "ResourceAtUriUnauthorized",
	"AccountForSessionNoLongerExists", "AuthenticationTokenRequired", "PasswordChangeRequired", "AccountNotModified",
	"AccountLocked", "InvalidCredentials", "LoginFailed", "RAC0212", "SYS403",
}

// sessionMessages say that the BMC holds no more sessions.
var sessionMessages = []string{"RAC0218", "SessionLimitExceeded", "CreateLimitReachedForResource"}

// openSession logs in once.
func (l *link) openSession(ctx context.Context, uri string) error {
	a := l.account
	form := map[string]string{"UserName": a.credentials.Username, "Password": a.credentials.Password}
	resp, body, err := l.exchange(ctx, request{op: opLogin, method: http.MethodPost, uri: uri, payload: form, open: true})
	if err != nil {
		return err
	}
	said := parseMessage(body)
	switch status := resp.StatusCode; {
	case said.is(sessionMessages), status == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "":
		// Whatever the status: 503 (Dell), 403 and 429 are known. A refusal of the credentials
		// names itself, or is 401 or 403 without a word of sessions.
		l.useBasic("the BMC has no session left", time.Now().Add(sessionCap))
		fault := l.faultOf(status, said)
		fault.Kind = protocol.FaultSessions
		a.note(fault)
		return nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden, said.is(loginMessages):
		return l.denied(opLogin, resp, body)
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return l.statusError(opLogin, resp, body)
	case status >= 300:
		l.useBasic("the BMC refused the form of the login", time.Time{})
		return nil
	}
	s := session{URI: sessionPath(resp.Header.Get("Location"), body), Token: resp.Header.Get("X-Auth-Token")}
	if s.Token == "" {
		l.useBasic("the BMC gave no token", time.Time{})
		return nil
	}
	a.use(loginSession, s, "", time.Time{})
	if b, err := json.Marshal(s); err == nil && l.config.Sessions != nil {
		if err := l.config.Sessions.Save(a.sessionKey(), b); err != nil {
			l.logger.Warn("session is not kept", "err", err)
		}
	}
	return nil
}

// sessionPath is where to delete the session. Location may be a whole URL; some
// BMCs give only the resource.
func sessionPath(location string, body []byte) string {
	path := location
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		path = u.EscapedPath()
	}
	if path == "" {
		path = textOf(fields(body)["@odata.id"])
	}
	if checkURI(path) != nil {
		return ""
	}
	return path
}

// stored is the session of an earlier process.
func (l *link) stored() (session, bool) {
	if l.config.Sessions == nil {
		return session{}, false
	}
	b, err := l.config.Sessions.Load(l.account.sessionKey())
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

func (l *link) forget() {
	if l.config.Sessions == nil {
		return
	}
	if err := l.config.Sessions.Delete(l.account.sessionKey()); err != nil {
		l.logger.Warn("kept session is not forgotten", "err", err)
	}
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
	resp, _, err := l.exchange(ctx, request{op: opLogout, method: http.MethodDelete, uri: s.URI, open: true, token: s.Token})
	l.host.breaker.done(err == nil, time.Now())
	if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusNotFound {
		l.logger.Info("session could not be ended; the BMC will", "err", err)
		return
	}
	l.forget()
}

// denied stops all use of these credentials for the pause.
func (l *link) denied(op string, resp *http.Response, body []byte) error {
	now := time.Now()
	l.host.refuse(l.account.credentials, now.Add(l.config.DeniedPause), now)
	e := l.statusError(op, resp, body)
	e.Code = protocol.CodeDenied
	return e
}
