package sim

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxSessions is what Supermicro BMCs hold.
const maxSessions = 16

// session is an open session.
type session struct {
	token string
	used  time.Time
	user  *bmcUser
}

// allowed checks basic authentication or a session token (DSP0266).
// The service root can be read and a session be opened without. b.mu is held.
func (b *BMC) allowed(r *request) bool {
	if r.Method == http.MethodGet && r.uri == uriRoot || r.Method == http.MethodPost && b.isLogin(r.uri) {
		return true
	}
	b.endSessions()
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		for _, s := range b.sessions {
			if subtle.ConstantTimeCompare([]byte(s.token), []byte(token)) == 1 {
				s.used, r.user = time.Now(), s.user
				return s.user.enabled
			}
		}
		return false
	}
	username, password, ok := r.BasicAuth()
	if ok {
		r.user = b.authentic(username, password)
	}
	return r.user != nil
}

func (b *BMC) isLogin(uri string) bool {
	sessions := fold(b.layout.sessions)
	return sessions != "" && (uri == sessions || uri == sessions+"/members")
}

// authentic is the user with a password, and nil for a wrong one, which it counts.
// b.mu is held.
func (b *BMC) authentic(username, password string) *bmcUser {
	rules := b.personality.Session
	if rules.LockAfter > 0 && b.wrong >= rules.LockAfter && time.Since(b.lockedAt) < rules.LockFor {
		return nil
	}
	if u := b.login(username, password); u != nil {
		b.wrong = 0
		return u
	}
	if b.wrong++; b.wrong >= rules.LockAfter {
		b.lockedAt = time.Now()
	}
	return nil
}

// endSessions forgets sessions that were not used for too long. b.mu is held.
func (b *BMC) endSessions() {
	limit := b.personality.Session.Timeout
	if limit == 0 {
		return
	}
	for id, s := range b.sessions {
		if time.Since(s.used) >= limit {
			delete(b.sessions, id)
		}
	}
}

func (b *BMC) getSessions(r *request) *answer {
	body := b.tree.get(r.uri)
	if body == nil {
		body = object{"@odata.id": b.layout.sessions, "Name": "Sessions"}
	}
	var members []string
	for id := range b.sessions {
		members = append(members, strings.TrimRight(b.layout.sessions, "/")+"/"+id)
	}
	slices.Sort(members)
	setMembers(body, members)
	return b.tagged(r, body)
}

func (b *BMC) postSession(r *request) *answer {
	login, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	b.endSessions()
	limit := b.personality.Session.Max
	if limit == 0 {
		limit = maxSessions
	}
	name := textAt(login, "UserName")
	who := b.authentic(name, textAt(login, "Password"))
	switch {
	case who == nil:
		return refuse(&refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "wrong credentials"})
	case len(b.sessions) >= limit:
		rules := b.personality.Session
		status, sid := http.StatusServiceUnavailable, "IDRAC.2.8.RAC0218"
		if rules.FullStatus != 0 {
			status, sid = rules.FullStatus, rules.FullID
		}
		return refuse(&refusal{status: status, id: sid, text: "the maximum number of sessions is reached"})
	}
	id := strings.ToLower(rand.Text())
	s := &session{token: rand.Text(), used: time.Now(), user: who}
	b.sessions[id] = s
	uri := strings.TrimRight(b.layout.sessions, "/") + "/" + id
	a := reply(http.StatusCreated, object{"@odata.id": uri, "Id": id, "Name": "Session", "UserName": name})
	a.header.Set("X-Auth-Token", s.token)
	a.header.Set("Location", uri)
	return a
}

func (b *BMC) sessionMember(method, id string) *answer {
	if b.sessions[id] == nil {
		return nil
	}
	if method == http.MethodDelete {
		delete(b.sessions, id)
		return reply(http.StatusNoContent, nil)
	}
	uri := strings.TrimRight(b.layout.sessions, "/") + "/" + id
	return reply(http.StatusOK, object{"@odata.id": uri, "Id": id, "Name": "Session", "UserName": b.sessions[id].user.name})
}
