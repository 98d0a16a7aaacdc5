package api_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/wire"
)

func pushed(t *testing.T, c *protoapi.Client, file []byte, progress func(protoapi.AgentProgram)) (protoapi.AgentPackage, error) {
	t.Helper()
	r, err := agentpackage.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return c.AgentPackages.Push(t.Context(), r, progress)
}

// Over real TLS: a push, the same again, what agents get, and who did it in the audit log.
func TestPushAgentPackage(t *testing.T) {
	h := apitest.New(t)
	c := h.ClientOf(t, apitest.TokenOf("operator"))
	programs := map[string][]byte{"amd64": bytes.Repeat([]byte("x86"), 5000), "arm64": bytes.Repeat([]byte("arm"), 5000)}
	file, signed := apitest.Package(t, apitest.Publisher(), "0.2.0", programs)
	var heard []protoapi.AgentProgram
	p, err := pushed(t, c, file, func(p protoapi.AgentProgram) { heard = append(heard, p) })
	if err != nil || !p.Whole || p.Digest != wire.Digest(signed) || p.UploadedBy != "operator" || p.Key == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := len(heard); n != 4 || heard[0].Offset != 0 || !heard[1].Whole || !heard[3].Whole || heard[3].Architecture != "arm64" {
		t.Errorf("%+v", heard)
	}
	for arch, program := range programs {
		f, _, err := h.ISOs.OpenContent(wire.Digest(program))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || !bytes.Equal(got, program) {
			t.Errorf("%s: other bytes, %v", arch, err)
		}
	}
	heard = nil
	if again, err := pushed(t, c, file, func(p protoapi.AgentProgram) { heard = append(heard, p) }); err != nil || !again.Whole || len(heard) != 2 {
		t.Errorf("again: %+v, %v, %+v", again, err, heard)
	}
	list, err := c.AgentPackages.List(t.Context())
	if err != nil || len(list.Items) != 1 || list.Items[0].Digest != p.Digest {
		t.Errorf("%+v, %v", list, err)
	}
	foreign, foreignSigned := apitest.Package(t, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), "0.2.0", programs)
	_, err = pushed(t, c, foreign, nil)
	wantCode(t, err, protocol.CodeDenied)
	_, err = c.AgentPackages.Get(t.Context(), wire.Digest(foreignSigned))
	wantCode(t, err, protocol.CodeNotFound)
	if _, err := c.AgentPackages.Delete(t.Context(), p.Digest); err != nil {
		t.Error(err)
	}
	_, err = c.AgentPackages.Delete(t.Context(), p.Digest)
	wantCode(t, err, protocol.CodeNotFound)
	var ops []string
	for _, e := range h.Records.Entries() {
		if want := "AgentPackage/" + p.Digest; e.Caller != "operator" || e.Target != want && e.Code != protocol.CodeDenied && e.Target != "AgentPackage/"+wire.Digest(foreignSigned) {
			t.Errorf("%+v", e)
		}
		ops = append(ops, e.Op+" "+string(e.Outcome))
	}
	const want = "apply asked, apply accepted, apply asked, apply accepted, apply asked, apply refused, delete asked, delete accepted, delete asked, delete refused"
	if got := strings.Join(ops, ", "); got != want {
		t.Errorf("recorded %s\nwant %s", got, want)
	}
}

// A connection that is cut in the middle of a piece, and a hub that had the beginning already: what is there is not lost,
// and the push ends well.
func TestPushGoesOn(t *testing.T) {
	h := apitest.New(t)
	c := h.ClientOf(t, apitest.TokenOf("operator"))
	program := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	file, signed := apitest.Package(t, apitest.Publisher(), "0.2.0", map[string][]byte{"amd64": program})
	if _, err := c.AgentPackages.Put(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	if at, err := c.AgentPackages.Send(t.Context(), wire.Digest(signed), "amd64", 0, bytes.NewReader(program), 1000); err != nil || at.Offset != 1000 {
		t.Fatal(at, err)
	}
	// Between client and hub: the first piece is passed on by half, and answered by nobody.
	to, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	var cut atomic.Int32
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.CA)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	t.Cleanup(tr.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: tr}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/programs/") && cut.Add(1) == 1 {
			half := make([]byte, r.ContentLength/2)
			if _, err := io.ReadFull(r.Body, half); err != nil {
				t.Error(err)
			}
			if _, err := c.AgentPackages.Send(context.WithoutCancel(r.Context()), wire.Digest(signed), "amd64", 1000, bytes.NewReader(half), int64(len(half))); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	far, err := protoapi.NewClient(protoapi.Config{BaseURL: between.URL, Token: apitest.TokenOf("operator")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(far.CloseIdle)
	p, err := pushed(t, far, file, nil)
	if err != nil || !p.Whole || cut.Load() != 2 {
		t.Errorf("%+v, %v, %d pieces", p, err, cut.Load())
	}
}

// Who may read sees the packages; who may apply everywhere pushes them.
func TestAgentPackageRoles(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	program := []byte("program")
	_, signed := apitest.Package(t, apitest.Publisher(), "0.2.0", map[string][]byte{"amd64": program})
	body, err := json.Marshal(protoapi.AgentPackageRequest{Manifest: signed})
	if err != nil {
		t.Fatal(err)
	}
	path := protoapi.PathAgentPackage(wire.Digest(signed))
	piece := protoapi.PathAgentProgram(wire.Digest(signed), "amd64", 0)
	for _, row := range []struct {
		who, method, path, body string
		want                    int
	}{
		{"", "PUT", path, string(body), 401},
		{"viewer", "PUT", path, string(body), 403},
		{"fencer", "PUT", path, string(body), 403},
		{"row7", "PUT", path, string(body), 403},
		{"operator", "PUT", protoapi.PathAgentPackage(wire.Digest(nil)), string(body), 400},
		{"operator", "PUT", path, `{"manifest":"AAAA"}`, 400},
		{"operator", "PUT", path, `{"manifest":7}`, 400},
		{"operator", "PUT", path, string(body), 200},
		{"", "PUT", piece, string(program), 401},
		{"viewer", "PUT", piece, string(program), 403},
		{"row7", "PUT", piece, string(program), 403},
		{"operator", "PUT", protoapi.PathAgentProgram(wire.Digest(signed), "arm64", 0), string(program), 404},
		{"operator", "PUT", protoapi.PathAgentProgram(wire.Digest(signed), "amd64", 3), string(program), 409},
		{"operator", "PUT", piece, strings.ToUpper(string(program)), 400},
		{"operator", "PUT", piece, string(program), 200},
		{"", "GET", path, "", 401},
		{"viewer", "GET", path, "", 200},
		{"row7", "GET", protoapi.PathAgentPackages, "", 200},
		{"viewer", "GET", protoapi.PathAgentPackage("sha256:x"), "", 400},
		{"viewer", "DELETE", path, "", 403},
		{"row7", "DELETE", path, "", 403},
		{"operator", "DELETE", path, "", 200},
		{"operator", "DELETE", path, "", 404},
	} {
		if got := ask(t, a, row.who, row.method, row.path, row.body); got.status != row.want {
			t.Errorf("%s %s %s: %d %s, want %d", row.who, row.method, row.path, got.status, got.text, row.want)
		}
	}
	none, _ := handler(t, func(c *api.Config) { c.AgentPackages = nil })
	if got := ask(t, none, "operator", "GET", protoapi.PathAgentPackages, ""); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a hub that keeps none: %d %s", got.status, got.text)
	}
}

// FuzzAgentPackageRequests: no body, digest or architecture is answered as a failure of the hub.
func FuzzAgentPackageRequests(f *testing.F) {
	_, signed := apitest.Package(f, apitest.Publisher(), "0.2.0", map[string][]byte{"amd64": []byte("program")})
	f.Add(signed, wire.Digest(signed), "amd64", int64(0), []byte("program"))
	f.Add([]byte("x"), "../x", "%2e%2e", int64(-1), []byte(""))
	f.Fuzz(func(t *testing.T, manifest []byte, digest, architecture string, offset int64, piece []byte) {
		a, _ := handler(t, func(c *api.Config) { c.Limits = gate.Limits{CallerPerSecond: 1e6} })
		body, err := json.Marshal(protoapi.AgentPackageRequest{Manifest: manifest})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct {
			method, path string
			body         []byte
		}{
			{http.MethodPut, protoapi.PathAgentPackage(wire.Digest(manifest)), body},
			{http.MethodPut, protoapi.PathAgentPackage(digest), body},
			{http.MethodPut, protoapi.PathAgentProgram(digest, architecture, offset), piece},
			{http.MethodGet, protoapi.PathAgentPackage(digest), nil},
			{http.MethodDelete, protoapi.PathAgentPackage(digest), nil},
		} {
			req := httptest.NewRequestWithContext(t.Context(), r.method, r.path, bytes.NewReader(r.body))
			req.Header.Set("Authorization", tokenOf("admin"))
			w := httptest.NewRecorder()
			a.ServeHTTP(w, req)
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && w.Code != http.StatusInsufficientStorage {
				t.Fatalf("%s %q: %d %s", r.method, r.path, w.Code, w.Body)
			}
		}
	})
}

// A hub that says nonsense of how far a program is neither stops rackctl with a panic nor has it send anything else.
func TestPushToNonsense(t *testing.T) {
	file, signed := apitest.Package(t, apitest.Publisher(), "0.2.0", map[string][]byte{"amd64": bytes.Repeat([]byte("x"), 5000)})
	for _, offset := range []string{`"offset": -1, "size": 5000`, `"offset": 5001, "size": 5000`, `"offset": 0, "size": -5`, `"offset": 0, "size": 9000000000000000000`} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"digest": %q, "programs": [{"architecture": "amd64", %s}]}`, wire.Digest(signed), offset)
		}))
		c, err := protoapi.NewClient(protoapi.Config{BaseURL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = pushed(t, c, file, nil)
		c.CloseIdle()
		srv.Close()
		if protocol.CodeOf(err) != protocol.CodeInternal || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", offset, err)
		}
	}
}
