package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/pki"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// dripping is a backup that begins, and then is written until nobody may have it.
type dripping struct {
	api.Backups
	begun  chan struct{}
	ended  chan error
	silent bool // it does not begin
}

// Begin implements api.Backups.
func (d *dripping) Begin() (func(context.Context, io.Writer) error, error) {
	return func(ctx context.Context, w io.Writer) error {
		err := func() error {
			if !d.silent {
				// More than the server keeps for itself.
				if _, err := w.Write(bytes.Repeat([]byte("beginning"), 10000)); err != nil {
					return err
				}
			}
			close(d.begun)
			<-ctx.Done()
			_, err := w.Write([]byte("end"))
			return errors.Join(context.Cause(ctx), err)
		}()
		d.ended <- err
		return err
	}, nil
}

// A request that takes long does not outlive its caller's token: what was begun breaks off, and what was
// not is refused. Whoever stays is not disturbed.
func TestReplaceCutsLongRequests(t *testing.T) {
	admin := gate.Client{Caller: access.Caller{Name: "copies", Roles: []access.Role{access.Admin}}, Token: apitest.TokenOf("copies")}
	viewer := admin
	viewer.Roles = []access.Role{access.Viewer}
	rotated := admin
	rotated.Token = apitest.TokenOf("rotated")
	other := gate.Client{Caller: access.Caller{Name: "other"}, Token: apitest.TokenOf("other")}
	for name, row := range map[string]struct {
		next   []gate.Client
		silent bool
		cut    int
	}{
		"taken away":                      {nil, false, 1},
		"taken away before its answer":    {nil, true, 1},
		"lowered":                         {[]gate.Client{viewer}, false, 1},
		"with another token":              {[]gate.Client{rotated}, true, 1},
		"somebody else comes, this stays": {[]gate.Client{admin, other}, false, 0},
	} {
		for _, h2 := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", HTTP/1.1", true: ", HTTP/2"}[h2], func(t *testing.T) {
				d := &dripping{begun: make(chan struct{}), ended: make(chan error, 1), silent: row.silent}
				a, _ := handler(t, func(c *api.Config) { c.Clients, c.Backups = []gate.Client{admin}, d })
				srv := httptest.NewUnstartedServer(a)
				srv.EnableHTTP2 = h2
				srv.StartTLS()
				defer srv.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+protoapi.PathBackup, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+admin.Token)
				type got struct {
					status int
					body   string
					err    error
				}
				answer := make(chan got, 1)
				go func() {
					resp, err := srv.Client().Do(r)
					if err != nil {
						answer <- got{err: err}
						return
					}
					defer resp.Body.Close()
					raw, err := io.ReadAll(resp.Body)
					answer <- got{resp.StatusCode, string(raw), err}
				}()
				<-d.begun
				change, err := a.Gate().Replace(gate.Callers{Clients: row.next})
				if err != nil || change.Cut != row.cut {
					t.Fatalf("%+v, %v", change, err)
				}
				if row.cut == 0 {
					if _, err := a.Gate().Replace(gate.Callers{Clients: []gate.Client{admin}}); err != nil {
						t.Fatal(err)
					}
					select {
					case err := <-d.ended:
						t.Fatalf("it ended: %v", err)
					case g := <-answer:
						t.Fatalf("it was answered: %+v", g)
					default:
					}
					cancel()
					<-d.ended
					<-answer
					return
				}
				if err := <-d.ended; err == nil {
					t.Error("it could go on writing")
				}
				switch g := <-answer; {
				case row.silent && (g.status != http.StatusUnauthorized || g.err != nil || !strings.Contains(g.body, "read its file anew")):
					t.Errorf("%+v", g)
				case !row.silent && (g.status != http.StatusOK || g.err == nil || strings.Contains(g.body, "end")):
					t.Errorf("it looks whole: %d, %d bytes, %v", g.status, len(g.body), g.err)
				}
			})
		}
	}
}

// Replace says what differs, and one that is refused changes nothing.
func TestReplace(t *testing.T) {
	a, _ := handler(t, func(*api.Config) {})
	g := a.Gate()
	change, err := g.Replace(gate.Callers{Clients: apitest.Clients()})
	if err != nil || change.String() != "other authorities" {
		t.Fatalf("%s, %v", change, err)
	}
	next := slices.DeleteFunc(apitest.Clients(), func(c gate.Client) bool { return c.Name == "viewer" })
	for i := range next {
		if next[i].Name == "operator" {
			next[i].Roles = []access.Role{access.Viewer}
		}
	}
	next = append(next, gate.Client{Caller: access.Caller{Name: "new"}, Token: apitest.TokenOf("new")})
	twice := append(slices.Clone(next), gate.Client{Caller: access.Caller{Name: "twin"}, Token: apitest.TokenOf("new")})
	if _, err := g.Replace(gate.Callers{Clients: twice}); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "same token") {
		t.Errorf("%v", err)
	}
	if status := whoamiStatus(t, a, apitest.TokenOf("viewer")); status != http.StatusOK {
		t.Errorf("a refused change took the viewer away: %d", status)
	}
	if change, err = g.Replace(gate.Callers{Clients: next}); err != nil || change.String() != "added new; removed viewer; changed operator" || change.None() {
		t.Errorf("%s, %v", change, err)
	}
	if change, err = g.Replace(gate.Callers{Clients: next}); err != nil || !change.None() {
		t.Errorf("%s, %v", change, err)
	}
	for token, want := range map[string]int{
		apitest.TokenOf("viewer"): http.StatusUnauthorized, apitest.TokenOf("new"): http.StatusOK, apitest.TokenOf("operator"): http.StatusOK, apitest.Token: http.StatusOK,
	} {
		if got := whoamiStatus(t, a, token); got != want {
			t.Errorf("%s: %d, want %d", token, got, want)
		}
	}
}

func whoamiStatus(t *testing.T, a *api.API, token string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, protoapi.PathWhoami, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Code
}

// While sets take each other's place, each request is judged by one of both: the token of a set goes with
// the roles of the same set.
func TestReplaceIsWhole(t *testing.T) {
	a, _ := handler(t, func(c *api.Config) { c.Clients = nil })
	set := func(role access.Role) []gate.Client {
		return []gate.Client{{Caller: access.Caller{Name: "x", Roles: []access.Role{role}}, Token: apitest.TokenOf(string(role))}}
	}
	roles := []access.Role{access.Viewer, access.Fencer}
	var askers sync.WaitGroup
	done := make(chan struct{})
	for _, role := range roles {
		for range 2 {
			askers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, protoapi.PathWhoami, nil)
					r.Header.Set("Authorization", "Bearer "+apitest.TokenOf(string(role)))
					w := httptest.NewRecorder()
					a.ServeHTTP(w, r)
					if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `"roles":["`+string(role)+`"]`) {
						t.Errorf("the token of %s: %s", role, w.Body)
						return
					}
				}
			})
		}
	}
	for i := range 400 {
		if _, err := a.Gate().Replace(gate.Callers{Clients: set(roles[i%2])}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	askers.Wait()
}

// An authority of clients that was taken away vouches for nobody, also on a connection that was made
// before; and a certificate of it is no agent's. A new connection with it is refused, and one that was
// added is known without a restart.
func TestReplaceAuthorities(t *testing.T) {
	keys, err := pki.Open(filepath.Join(t.TempDir(), "pki"), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	page := []gate.Client{{Caller: access.Caller{Name: "page", Roles: []access.Role{access.Viewer}}, CommonName: "page"}}
	a, hub := handler(t, func(c *api.Config) { c.Clients = page })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, ln, keys.FollowingTLS(a.Gate().Authorities)) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	_, second := handler(t, func(*api.Config) {})
	dial := func(of *apitest.Hub) *protoapi.Client {
		cert, key := of.Certificate(t, "page")
		c, err := protoapi.NewClient(protoapi.Config{BaseURL: "https://" + ln.Addr().String(), CA: keys.CAPEM(), Certificate: cert, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.CloseIdle)
		return c
	}
	first, later := dial(hub), dial(second)
	if me, err := first.Whoami(t.Context()); err != nil || me.Name != "page" {
		t.Fatalf("%+v, %v", me, err)
	}
	if _, err := later.Whoami(t.Context()); err == nil {
		t.Error("an authority that nobody named is known")
	}
	if c, err := a.Gate().Replace(gate.Callers{Clients: page, Authorities: []*x509.Certificate{second.ClientCA()}}); err != nil || !c.Authorities {
		t.Fatalf("%+v, %v", c, err)
	}
	if me, err := first.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("on the connection of before: %+v, %v", me, err)
	}
	if _, err := dial(hub).Whoami(t.Context()); err == nil {
		t.Error("a new connection with the authority that was taken away")
	}
	if me, err := later.Whoami(t.Context()); err != nil || me.Name != "page" {
		t.Errorf("the authority that was added: %+v, %v", me, err)
	}
	raw, _ := hub.Certificate(t, "page")
	block, _ := pem.Decode(raw)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	shown := &http.Request{TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf, hub.ClientCA()}}}}
	if agent := a.Gate().Agent(shown); agent != "" {
		t.Errorf("it is taken for agent %q", agent)
	}
}
