package sim

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/bmc/sim/tree"
)

// maxSessions is what Supermicro BMCs hold.
const maxSessions = 16

// session is an open session.
type session struct {
	token string
	used  time.Time
	user  *account
}

// sessions are those of a BMC. Its methods are safe for concurrent use.
type sessions struct {
	manner   *manner
	tags     *tags
	tree     *tree.Tree
	uri      string
	accounts *accounts

	mu   sync.Mutex
	open map[string]*session
}

func newSessions(m *manner, g *tags, t *tree.Tree, uri string, a *accounts) *sessions {
	return &sessions{manner: m, tags: g, tree: t, uri: uri, accounts: a, open: make(map[string]*session)}
}

func (s *sessions) routes(t *router) {
	t.add("GET", s.uri, s.get)
	t.add("POST", s.uri, s.post)
	t.add("POST", strings.TrimRight(s.uri, "/")+"/Members", s.post)
	t.addMembers(s.uri, s.member)
}

// clear ends all.
func (s *sessions) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.open)
}

// allowed checks basic authentication or a session token (DSP0266).
// The service root can be read and a session be be opened without.
func (s *sessions) allowed(r *request) bool {
	if r.Method == http.MethodGet && r.uri == tree.RootURI || r.Method == http.MethodPost && s.isLogin(r.uri) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		for _, one := range s.open {
			if subtle.ConstantTimeCompare([]byte(one.token), []byte(token)) == 1 {
				one.used, r.user = time.Now(), one.user
				return s.accounts.enabled(one.user)
			}
		}
		return false
	}
	username, password, ok := r.BasicAuth()
	if ok {
		r.user = s.accounts.authentic(username, password)
	}
	return r.user != nil
}

func (s *sessions) isLogin(uri string) bool {
	sessions := tree.Fold(s.uri)
	return sessions != "" && (uri == sessions || uri == sessions+"/members")
}

// end forgets sessions that were not used for too long. s.mu is held.
func (s *sessions) end() {
	limit := s.manner.now().Session.Timeout
	if limit == 0 {
		return
	}
	for id, one := range s.open {
		if time.Since(one.used) >= limit {
			delete(s.open, id)
		}
	}
}

func (s *sessions) get(r *request) *answer {
	body := s.tree.Get(r.uri)
	if body == nil {
		body = tree.Object{"@odata.id": s.uri, "Name": "Sessions"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var members []string
	for id := range s.open {
		members = append(members, strings.TrimRight(s.uri, "/")+"/"+id)
	}
	slices.Sort(members)
	tree.SetMembers(body, members)
	return s.tags.tagged(r, body)
}

func (s *sessions) post(r *request) *answer {
	login, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	limit := s.manner.now().Session.Max
	if limit == 0 {
		limit = maxSessions
	}
	name := tree.TextAt(login, "UserName")
	who := s.accounts.authentic(name, tree.TextAt(login, "Password"))
	switch {
	case who == nil:
		return refuse(&refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "wrong credentials"})
	case len(s.open) >= limit:
		rules := s.manner.now().Session
		status, sid := http.StatusServiceUnavailable, "IDRAC.2.8.RAC0218"
		if rules.FullStatus != 0 {
			status, sid = rules.FullStatus, rules.FullID
		}
		return refuse(&refusal{status: status, id: sid, text: "the maximum number of sessions is reached"})
	}
	id := strings.ToLower(rand.Text())
	one := &session{token: rand.Text(), used: time.Now(), user: who}
	s.open[id] = one
	uri := strings.TrimRight(s.uri, "/") + "/" + id
	a := reply(http.StatusCreated, tree.Object{"@odata.id": uri, "Id": id, "Name": "Session", "UserName": name})
	a.header.Set("X-Auth-Token", one.token)
	a.header.Set("Location", uri)
	return a
}

func (s *sessions) member(_ *request, method, id string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == nil {
		return nil
	}
	if method == http.MethodDelete {
		delete(s.open, id)
		return reply(http.StatusNoContent, nil)
	}
	uri := strings.TrimRight(s.uri, "/") + "/" + id
	return reply(http.StatusOK, tree.Object{"@odata.id": uri, "Id": id, "Name": "Session", "UserName": s.accounts.nameOf(s.open[id].user)})
}
