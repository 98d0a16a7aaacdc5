package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"
	"time"

	"rackboot/hub/access"
	"rackboot/protocol"
)

const (
	// cookieName has the prefix by which browsers hold it to this host, to TLS and to the path /
	// (RFC 6265bis, section 4.1.3.2).
	cookieName = "__Host-rackboot"
	// Idle is after how long without a request a session ends; an open watch is one.
	Idle = time.Hour
	// Life is after how long a session ends, whatever it does.
	Life = 12 * time.Hour
	// MaxSessions bounds the sessions of a hub.
	MaxSessions = 1024
	// MaxOwn bounds those of one caller.
	MaxOwn = 16
)

// digest is of a session's secret: what is looked up says nothing about what is known.
type digest [sha256.Size]byte

// session is a browser that has logged in.
type session struct {
	id    digest
	who   access.Caller
	token string // as it was given: the API is asked with it
	began time.Time
	// gone ends what the session has open.
	gone context.Context
	end  context.CancelFunc

	open int         // requests; of sessions.mu
	idle *time.Timer // runs while open is 0; of sessions.mu
}

// sessions are kept in memory only: a hub that starts anew has its readers log in anew. The zero sessions is
// not usable. It is safe for concurrent use.
type sessions struct {
	mu  sync.Mutex
	all map[digest]*session
}

func newSessions() *sessions { return &sessions{all: map[digest]*session{}} }

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// begin has a caller in, and returns the secret of the session, which ends with the token where ends is not zero. Of a
// caller who has [MaxOwn], the oldest ends. The code is unavailable where the hub has as many as it takes.
func (s *sessions) begin(who access.Caller, token string, ends time.Time) (secret string, err error) {
	secret = rand.Text() + rand.Text() // 256 bits at least
	one := &session{id: sha256.Sum256([]byte(secret)), who: who, token: token, began: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(who.Name)
	if len(s.all) >= MaxSessions {
		return "", protocol.Errorf(protocol.CodeUnavailable, "log in", "the hub has %d sessions, and takes no more", MaxSessions).
			WithHint("others end after %s without a request; rackctl needs none", Idle)
	}
	left := Life
	if !ends.IsZero() {
		left = min(left, time.Until(ends))
	}
	one.gone, one.end = context.WithCancel(context.Background())
	one.idle = time.AfterFunc(Idle, func() { s.dropIdle(one) })
	life := time.AfterFunc(left, func() { s.drop(one) })
	context.AfterFunc(one.gone, func() { life.Stop() })
	s.all[one.id] = one
	return secret, nil
}

// makeRoom needs s.mu.
func (s *sessions) makeRoom(name string) {
	var own []*session
	for _, o := range s.all {
		if o.who.Name == name {
			own = append(own, o)
		}
	}
	if len(own) < MaxOwn {
		return
	}
	oldest := slices.MinFunc(own, func(a, b *session) int { return a.began.Compare(b.began) })
	s.forget(oldest)
}

// enter returns the session of a request's cookie, which is not idle until leave is called; nil without one.
func (s *sessions) enter(r *http.Request) (one *session, leave func()) {
	secret := secretOf(r)
	if secret == "" {
		return nil, nil
	}
	id := digest(sha256.Sum256([]byte(secret)))
	s.mu.Lock()
	defer s.mu.Unlock()
	one = s.all[id]
	if one == nil {
		return nil, nil
	}
	one.open++
	one.idle.Stop()
	return one, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.open--; one.open == 0 && one.gone.Err() == nil {
			one.idle.Reset(Idle)
		}
	}
}

// drop ends a session.
func (s *sessions) drop(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(one)
}

// dropIdle ends a session unless it has been used again meanwhile.
func (s *sessions) dropIdle(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.open == 0 {
		s.forget(one)
	}
}

// forget needs s.mu.
func (s *sessions) forget(one *session) {
	delete(s.all, one.id)
	one.idle.Stop()
	one.end()
}

// maxSecret bounds what is looked at of a cookie.
const maxSecret = 128

// secretOf is that of the request's cookie; empty without one. A request with two is nobody's: one of them was
// put there by somebody else.
func secretOf(r *http.Request) string {
	all := r.CookiesNamed(cookieName)
	if len(all) != 1 || len(all[0].Value) > maxSecret {
		return ""
	}
	return all[0].Value
}

// cookie is that of a session; an empty secret takes it from the browser. It has no end of its own: the
// server's counts.
func cookie(secret string) *http.Cookie {
	c := &http.Cookie{Name: cookieName, Value: secret, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}
