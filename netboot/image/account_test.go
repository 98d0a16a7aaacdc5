package image

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

const (
	testUser     = "puller"
	testPassword = "pw canary 7d2a+/" // with what URLs escape
)

func accountOf(host string, a Account) Accounts {
	return func(_ context.Context, asked string) (Account, error) {
		if asked != host {
			return Account{}, nil
		}
		return a, nil
	}
}

func byPassword() Account { return Account{Username: testUser, Password: testPassword} }

// wantsLogin is a registry with basic authentication.
func wantsLogin(w http.ResponseWriter, r *http.Request) bool {
	if user, password, _ := r.BasicAuth(); user == testUser && password == testPassword {
		return false
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
	w.WriteHeader(http.StatusUnauthorized)
	return true
}

// TestAccount: who has the account resolves and pulls, others are denied; a mirror is
// given its own account and not that of the registry that it stands for.
func TestAccount(t *testing.T) {
	r := newRegistry(t)
	img, pinned := pxeImage(t, r)
	r.misbehave(wantsLogin)
	mirrored := strings.Replace(pinned, r.host, "registry.example", 1)
	toMirror := map[string]string{"registry.example": r.host}
	broken := func(context.Context, string) (Account, error) {
		return Account{}, protocol.Errorf(protocol.CodeUnavailable, "read account", "no key")
	}
	for _, row := range []struct {
		name     string
		ref      string
		mirrors  map[string]string
		accounts Accounts
		want     protocol.Code
	}{
		{"right", pinned, nil, accountOf(r.host, byPassword()), ""},
		{"none", pinned, nil, nil, protocol.CodeDenied},
		{"wrong password", pinned, nil, accountOf(r.host, Account{Username: testUser, Password: "other"}), protocol.CodeDenied},
		{"of another host", pinned, nil, accountOf("registry.example", byPassword()), protocol.CodeDenied},
		{"cannot be had", pinned, nil, broken, protocol.CodeUnavailable},
		{"mirror, its own", mirrored, toMirror, accountOf(r.host, byPassword()), ""},
		{"mirror, the origin's", mirrored, toMirror, accountOf("registry.example", byPassword()), protocol.CodeDenied},
	} {
		opts := patient()
		opts.Mirrors, opts.Accounts = row.mirrors, row.accounts
		blobs := newMemBlobs()
		err := Pull(t.Context(), row.ref, img.Artefacts, blobs, opts)
		if protocol.CodeOf(err) != row.want || (err == nil) != (len(blobs.blobs) == 2) {
			t.Errorf("%s: %v, %d blobs", row.name, err, len(blobs.blobs))
		}
	}
}

// attacker is a host that writes down what it is sent.
type attacker struct {
	*httptest.Server
	host string
	mu   sync.Mutex
	saw  []string
}

func newAttacker(t *testing.T) *attacker {
	t.Helper()
	a := &attacker{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		a.mu.Lock()
		a.saw = append(a.saw, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Form.Encode())
		a.mu.Unlock()
		_, _ = w.Write([]byte(`{"token":"theirs"}`))
	}))
	t.Cleanup(a.Close)
	a.host = strings.TrimPrefix(a.URL, "http://")
	return a
}

// knows says what the attacker was sent that is ours.
func (a *attacker) knows(secrets ...string) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range a.saw {
		for _, s := range secrets {
			if strings.Contains(line, s) {
				out = append(out, line)
			}
		}
	}
	return out
}

// TestAccountGoesNowhereElse: a registry that sends its clients to another host gives
// that host no login, whatever way it chooses.
func TestAccountGoesNowhereElse(t *testing.T) {
	const token = "token-canary-51"
	login := base64Of(testUser + ":" + testPassword)
	for _, row := range []struct {
		name    string
		account Account
		wrap    func(a *attacker) func(http.ResponseWriter, *http.Request) bool
		want    protocol.Code
		asked   bool // the attacker, without a login
	}{
		{"blobs lie elsewhere, by password", byPassword(), func(a *attacker) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				return wantsLogin(w, r) || sentOn(w, r, "/blobs/", a.URL+"/stored")
			}
		}, protocol.CodeInvalid, true},
		{"blobs lie elsewhere, by token", Account{Token: token}, func(a *attacker) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				return wantsToken(w, r, token, "http://"+r.Host+"/token") || sentOn(w, r, "/blobs/", a.URL+"/stored")
			}
		}, protocol.CodeInvalid, true},
		{"manifests lie elsewhere", byPassword(), func(a *attacker) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				return wantsLogin(w, r) || sentOn(w, r, "/manifests/", a.URL+"/v2/os/manifests/x")
			}
		}, protocol.CodeInvalid, true},
		{"tokens are had elsewhere", byPassword(), func(a *attacker) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool { return wantsToken(w, r, token, a.URL+"/token") }
		}, protocol.CodeInvalid, false},
		{"tokens are had here, and sent on", byPassword(), func(a *attacker) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				return sentOn(w, r, "/token", a.URL+"/token") || wantsToken(w, r, token, "http://"+r.Host+"/token")
			}
		}, protocol.CodeInvalid, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, a := newRegistry(t), newAttacker(t)
			img, pinned := pxeImage(t, r)
			r.misbehave(row.wrap(a))
			opts := patient()
			opts.Accounts = accountOf(r.host, row.account)
			err := Pull(t.Context(), pinned, img.Artefacts, newMemBlobs(), opts)
			if err == nil {
				t.Error("pulled")
			}
			if got := a.knows(testPassword, login, token, "password", "Basic"); len(got) > 0 {
				t.Errorf("the other host was sent %q", got)
			}
			if (len(a.saw) > 0) != row.asked {
				t.Errorf("asked %q: %v", a.saw, err)
			}
			if shows(err, testPassword, login, token) {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestKeepTable(t *testing.T) {
	doctable.Of(t, "keep.go", "keepRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.Words(sendsNothing, sendsToken, sendsLogin), doctable.YesNo(), doctable.Words(wayPlain, wayClosed),
	}, func(in []string) []string {
		return doctable.Words(keepRule(in[0] == "yes", sends(in[1]), in[2] == "yes", openness(in[3])))
	})
}

// Requests as they are, with what no real flow shows.
func TestKeep(t *testing.T) {
	for _, row := range []struct {
		account Account
		method  string
		url     string
		header  string
		out     string // header that goes out
		refused bool
	}{
		{Account{}, "GET", "https://cdn.example/b", "Bearer theirs", "Bearer theirs", false},
		{Account{}, "POST", "https://tokens.example/t", "", "", false},
		{byPassword(), "GET", "https://cdn.example/b", "", "", false},
		{byPassword(), "GET", "https://registry.example/v2/", "Basic x", "Basic x", false},
		{byPassword(), "POST", "https://registry.example/token", "", "", false},
		{byPassword(), "GET", "http://registry.example/v2/", "Basic x", "", true},
		{byPassword(), "GET", "http://registry.example/v2/", "Bearer x", "", true},
		{byPassword(), "GET", "http://registry.example/v2/", "", "", false},
		{byPassword(), "GET", "https://cdn.example/b", "Bearer x", "", false},
		{byPassword(), "GET", "https://cdn.example/b", "basic x", "", true},
		{byPassword(), "POST", "https://cdn.example/b", "", "", true},
		{byPassword(), "GET", "https://registry.example:444/b", "Basic x", "", true},
		{Account{Username: "a", Password: "b", TokenHosts: []string{"tokens.example"}}, "GET", "https://tokens.example/t", "Basic x", "Basic x", false},
		{Account{Username: "a", Password: "b", TokenHosts: []string{"tokens.example"}}, "POST", "https://tokens.example/t", "", "", false},
		{Account{Username: "a", Password: "b", TokenHosts: []string{"tokens.example"}}, "GET", "http://tokens.example/t", "Basic x", "", true},
	} {
		g := &guard{host: "registry.example", account: row.account, plainAllowed: func(string) bool { return true }, idle: time.Minute}
		req := httptest.NewRequestWithContext(t.Context(), row.method, row.url, http.NoBody)
		if row.header != "" {
			req.Header.Set("Authorization", row.header)
		}
		out, err := g.keep(req)
		if (err != nil) != row.refused || err == nil && out.Header.Get("Authorization") != row.out {
			t.Errorf("%s %s with %q: %v", row.method, row.url, row.header, err)
		}
		if err != nil && (protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v without a hint", row.url, err)
		}
	}
	if !(Account{}).givenTo("auth.docker.io", "index.docker.io") || (Account{}).givenTo("auth.docker.io", "registry.example") {
		t.Error("Docker Hub has its tokens from auth.docker.io, and nobody else has")
	}
}

// TestNoSecretInErrors: a registry that answers with what it was sent puts no login into
// an error.
func TestNoSecretInErrors(t *testing.T) {
	r := newRegistry(t)
	img, pinned := pxeImage(t, r)
	login := base64Of(testUser + ":" + testPassword)
	for _, status := range []int{401, 403, 404, 500, 400} {
		r.misbehave(func(w http.ResponseWriter, req *http.Request) bool {
			if req.URL.Path == "/v2/" {
				return wantsLogin(w, req)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"errors":[{"code":"UNKNOWN","message":"you sent ` + req.Header.Get("Authorization") + ` that is ` + testPassword + `"}]}`))
			return true
		})
		opts := patient()
		opts.Accounts = accountOf(r.host, byPassword())
		err := Pull(t.Context(), pinned, img.Artefacts, newMemBlobs(), opts)
		if err == nil || shows(err, testPassword, login) {
			t.Errorf("%d: %v", status, err)
		}
		if !strings.Contains(err.Error(), hidden) {
			t.Errorf("%d: the answer is not in the error, so that this proves nothing: %v", status, err)
		}
	}
}

// shows says whether a secret is in an error, or in any in its chain.
func shows(err error, secrets ...string) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, s := range secrets {
			if strings.Contains(e.Error()+protocol.HintOf(e), s) {
				return true
			}
		}
	}
	return false
}

// TestTokens: name and password are exchanged for a token where the registry says, which
// is sent and not shown.
func TestTokens(t *testing.T) {
	r := newRegistry(t)
	img, pinned := pxeImage(t, r)
	const token = "given-token-77"
	echo := false
	r.misbehave(func(w http.ResponseWriter, req *http.Request) bool {
		switch {
		case req.URL.Path == "/token":
			if !wantsLogin(w, req) {
				_, _ = w.Write([]byte(`{"token":"` + token + `"}`))
			}
			return true
		case wantsToken(w, req, token, "http://"+req.Host+"/token"):
			return true
		case echo:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"errors":[{"code":"UNKNOWN","message":"you sent ` + req.Header.Get("Authorization") + `"}]}`))
		}
		return echo
	})
	opts := patient()
	opts.Accounts = accountOf(r.host, byPassword())
	if err := Inspect(t.Context(), img, opts); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "is no kernel") {
		t.Errorf("inspect: %v", err)
	}
	if err := Pull(t.Context(), pinned, img.Artefacts, newMemBlobs(), opts); err != nil {
		t.Errorf("pull: %v", err)
	}
	echo = true
	err := Pull(t.Context(), pinned, img.Artefacts, newMemBlobs(), opts)
	if err == nil || shows(err, token) || !strings.Contains(err.Error(), hidden) {
		t.Errorf("a registry that echoes: %v", err)
	}
	opts.Accounts = accountOf(r.host, Account{Username: testUser, Password: "other"})
	if err := Pull(t.Context(), pinned, img.Artefacts, newMemBlobs(), opts); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("wrong password: %v", err)
	}
}

func TestAllow(t *testing.T) {
	r := newRegistry(t)
	r.image("v1", r.blob(typeUKI, "uki"))
	for _, row := range []struct {
		allow []string
		want  protocol.Code
	}{
		{nil, ""},
		{[]string{"registry.example", r.host}, ""},
		{[]string{r.host + "/os"}, ""},
		{[]string{r.host + "/o"}, protocol.CodeInvalid},
		{[]string{r.host + "/os/more"}, protocol.CodeInvalid},
		{[]string{"registry.example"}, protocol.CodeInvalid},
		{[]string{"127.0.0.1"}, protocol.CodeInvalid}, // another port
	} {
		opts := patient()
		opts.Allow = row.allow
		hits := r.hits
		_, err := Resolve(t.Context(), r.ref("v1"), "amd64", opts)
		if protocol.CodeOf(err) != row.want || err != nil && (!strings.Contains(err.Error(), "not allowed") || protocol.HintOf(err) == "") {
			t.Errorf("%v: %v", row.allow, err)
		}
		if err != nil && r.hits != hits {
			t.Errorf("%v: the registry was asked", row.allow)
		}
	}
	opts := patient()
	opts.Allow, opts.Mirrors = []string{"docker.io/library"}, map[string]string{"docker.io": r.host}
	if _, err := Resolve(t.Context(), "docker.io/library/x:1", "amd64", opts); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("Docker Hub by the name that people write, and its mirror: %v", err)
	}
	for entry, ok := range map[string]bool{
		"registry.example": true, "registry.example:5000": true, "10.0.0.1:5000/team/os": true, "[::1]:5000": true,
		"": false, "https://registry.example": false, "registry.example/": false, "Registry.example": false, "registry.example/a/": false,
		"user:pw@registry.example": false, "registry.example?x": false, "registry.example/A": false, "*.example": false,
	} {
		if err := CheckAllow(entry); (err == nil) != ok {
			t.Errorf("%q: %v", entry, err)
		}
	}
}
