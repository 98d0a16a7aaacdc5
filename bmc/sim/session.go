package sim

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxSessions is what Supermicro BMCs hold.
const maxSessions = 16

// allowed checks basic authentication or a session token (DSP0266).
// The service root can be read and a session be opened without.
func (b *BMC) allowed(r *http.Request) bool {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if r.Method == http.MethodGet && path == uriRoot || r.Method == http.MethodPost && path == uriSessions {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		for _, t := range b.sessions {
			if subtle.ConstantTimeCompare([]byte(t), []byte(token)) == 1 {
				return true
			}
		}
		return false
	}
	username, password, ok := r.BasicAuth()
	return ok && username == b.username && password == b.password
}

func (b *BMC) getSessionService(w http.ResponseWriter, _ *http.Request) {
	writeObject(w, http.StatusOK, object{
		"@odata.id": uriSessionSv, "@odata.type": "#SessionService.v1_1_8.SessionService",
		"Id": "SessionService", "Name": "Session Service", "ServiceEnabled": true, "SessionTimeout": 300,
		"Sessions": link(uriSessions),
	})
}

func (b *BMC) getSessions(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	var members []string
	for id := range b.sessions {
		members = append(members, uriSessions+"/"+id)
	}
	b.mu.Unlock()
	slices.Sort(members)
	writeObject(w, http.StatusOK, collection(uriSessions, "SessionCollection", members...))
}

func (b *BMC) postSession(w http.ResponseWriter, r *http.Request) {
	var login struct{ UserName, Password string }
	if json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&login) != nil {
		writeError(w, &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not JSON"})
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case login.UserName != b.username || login.Password != b.password:
		writeError(w, &refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "wrong credentials"})
	case len(b.sessions) >= maxSessions:
		writeError(w, &refusal{status: http.StatusServiceUnavailable, id: "IDRAC.2.8.RAC0218", text: "the maximum number of sessions is reached"})
	default:
		id, token := rand.Text(), rand.Text()
		b.sessions[id] = token
		w.Header().Set("X-Auth-Token", token)
		w.Header().Set("Location", uriSessions+"/"+id)
		writeObject(w, http.StatusCreated, object{"@odata.id": uriSessions + "/" + id, "Id": id, "Name": "Session", "UserName": login.UserName})
	}
}

func (b *BMC) deleteSession(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	_, ok := b.sessions[r.PathValue("id")]
	delete(b.sessions, r.PathValue("id"))
	b.mu.Unlock()
	if !ok {
		writeError(w, &refusal{status: http.StatusNotFound, id: "Base.1.13.ResourceMissingAtURI", text: "no such session"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
