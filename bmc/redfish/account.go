package redfish

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// accountKey is what drivers share an account by.
type accountKey struct {
	base        string
	fingerprint string
	ca          string
	legacyTLS   bool
	credentials bmc.Credentials
}

// account is one login at one BMC, shared by the drivers of all its systems:
// the connections, and the session or basic authentication.
type account struct {
	key         accountKey
	base        *url.URL
	credentials bmc.Credentials
	basic       string // the header of basic authentication, which all requests share
	client      *http.Client
	users       int // guarded by Dialer.mu

	logging chan struct{} // held for the whole of a login

	mu      sync.Mutex
	mode    loginMode
	why     string    // why basic, for people
	until   time.Time // when basic by sessionCap ends
	session session
	opened  time.Time         // when the session was opened
	short   int               // sessions in a row that ended too soon
	fault   protocol.BMCFault // why there is no session, if the BMC has none left
}

// A BMC that ends sessions sooner than this, so often in a row, is used without:
// AMI and HPE state timeouts of 30, in a unit that not all agree on, and a poll
// that logs in each time fills their logs.
const (
	shortSession  = 2 * time.Minute
	shortSessions = 3
)

// sessionCap is how long basic authentication is used after the BMC had no
// session left (Dell RAC0218; Supermicro holds 16), or no way to one. A login
// whose form it refused is not tried again: it might count as a failed one.
const sessionCap = 10 * time.Minute

// loginMode is how requests are authenticated.
type loginMode int

const (
	loginUnknown loginMode = iota // not yet tried
	loginSession
	loginBasic
)

// session is a login at the SessionService (DSP0266, session management).
type session struct {
	URI   string `json:"uri"`
	Token string `json:"token"`
}

func newAccount(key accountKey, base *url.URL, client *http.Client) *account {
	return &account{key: key, base: base, credentials: key.credentials, basic: basicHeader(key.credentials), client: client, logging: make(chan struct{}, 1)}
}

// basicHeader is RFC 7617's. What it is made of is wiped: nothing frees memory at a time that
// anybody knows, and net/http would leave the password in it three times more.
func basicHeader(c bmc.Credentials) string {
	const scheme = "Basic "
	plain := make([]byte, 0, len(c.Username)+1+len(c.Password))
	defer func() { clear(plain) }()
	plain = append(append(append(plain, c.Username...), ':'), c.Password...)
	header := make([]byte, 0, len(scheme)+base64.StdEncoding.EncodedLen(len(plain)))
	header = base64.StdEncoding.AppendEncode(append(header, scheme...), plain)
	defer clear(header)
	return string(header)
}

// sessionKey names the account in the session store: the BMC, and a digest of the user
// and of what the BMC is trusted by, so that a token is sent to nobody else.
func (a *account) sessionKey() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{a.credentials.Username, a.key.fingerprint, a.key.ca}, "\x00")))
	return a.base.Host + "/" + hex.EncodeToString(sum[:8])
}

// ready reports whether requests can be authorized now. renew is a token that the
// BMC did not accept, and must not be used again.
func (a *account) ready(renew string, now time.Time) (ready, dropped bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if renew != "" && a.session.Token == renew {
		a.mode, a.session, dropped = loginUnknown, session{}, true
		if a.short++; now.Sub(a.opened) > shortSession {
			a.short = 0
		}
		if a.short >= shortSessions {
			a.mode, a.why, a.until, a.short = loginBasic, "the BMC ends sessions too soon", now.Add(sessionCap), 0
		}
	}
	if a.mode == loginBasic && !a.until.IsZero() && now.After(a.until) {
		a.mode = loginUnknown
	}
	return a.mode != loginUnknown, dropped
}

// use sets how requests are authorized from now on.
func (a *account) use(mode loginMode, s session, why string, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode, a.session, a.why, a.until = mode, s, why, until
	a.opened, a.fault = time.Now(), protocol.BMCFault{}
}

// note says that the BMC has no session left, until the next login.
func (a *account) note(f protocol.BMCFault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = f
}

// full is what the BMC said when it had no session left; the zero value otherwise.
func (a *account) full() protocol.BMCFault {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fault
}

// say is how the account is logged in, for people.
func (a *account) say() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.mode {
	case loginSession:
		return "session"
	case loginBasic:
		return "basic: " + a.why
	case loginUnknown:
	}
	return "none yet"
}

// token is the session's token; empty for basic.
func (a *account) token() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session.Token
}

// authorize puts the login on a request.
func (a *account) authorize(req *http.Request) (token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode == loginSession {
		req.Header.Set("X-Auth-Token", a.session.Token)
		return a.session.Token
	}
	req.Header.Set("Authorization", a.basic)
	return ""
}

// secrets are what must not show in anything that a BMC says.
func (a *account) secrets() []string {
	return []string{a.token(), a.credentials.Password, a.credentials.Username}
}

// end takes the session out of use.
func (a *account) end() session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session
	a.mode, a.session = loginUnknown, session{}
	return s
}
