package api_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// isoArchive is a tar with one file, and its digest.
func isoArchive(t testing.TB, content string) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
	_, writeErr := io.WriteString(w, content)
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), fmt.Sprintf("sha256:%x", sha256.Sum256(b.Bytes()))
}

// Over real TLS: pieces, how far it is, the end, and who did it in the audit log.
func TestUploadISO(t *testing.T) {
	h := apitest.New(t)
	c := h.ClientOf(t, apitest.TokenOf("operator"))
	content, digest := isoArchive(t, strings.Repeat("kernel", 300))
	req := protoapi.ISOUploadRequest{File: "Debian 12.iso", Digest: digest, Size: int64(len(content))}
	u, err := c.Uploads.Begin(t.Context(), req)
	if err != nil || u.Offset != 0 || u.ID == "" {
		t.Fatal(u, err)
	}
	if u, err = c.Uploads.Send(t.Context(), u.ID, 0, bytes.NewReader(content), 1000); err != nil || u.Offset != 1000 {
		t.Fatal(u, err)
	}
	_, err = c.Uploads.Send(t.Context(), u.ID, 0, bytes.NewReader(content), 10)
	wantCode(t, err, protocol.CodeConflict)
	resp := head(t, h, protoapi.PathISOUpload(u.ID))
	if got := resp.Header.Get(protoapi.HeaderUploadOffset); got != "1000" || resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %d, %q", resp.StatusCode, got)
	}
	_, err = c.Uploads.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: req.File})
	wantCode(t, err, protocol.CodeConflict)
	if u, err = c.Uploads.Send(t.Context(), u.ID, 1000, bytes.NewReader(content[1000:]), int64(len(content)-1000)); err != nil {
		t.Fatal(err)
	}
	f, err := c.Uploads.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: req.File})
	if err != nil || f.Digest != digest || f.UploadedBy != "operator" {
		t.Fatalf("%+v, %v", f, err)
	}
	list, err := c.ISOs.List(t.Context())
	if err != nil || len(list.Items) != 1 || list.Items[0].File != req.File {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err = c.ISOs.Remove(t.Context(), req.File, false); err != nil {
		t.Error(err)
	}
	_, err = c.ISOs.Get(t.Context(), req.File)
	wantCode(t, err, protocol.CodeNotFound)
	var ops []string
	for _, e := range h.Records.Entries() {
		if e.Target != "ISO/"+req.File || e.Caller != "operator" {
			t.Errorf("%+v", e)
		}
		ops = append(ops, e.Op+" "+string(e.Outcome))
	}
	if got, want := strings.Join(ops, ", "), "apply asked, apply accepted, finish asked, finish refused, finish asked, finish accepted, delete asked, delete accepted"; got != want {
		t.Errorf("recorded %s\nwant %s", got, want)
	}
}

func head(t *testing.T, h *apitest.Hub, path string) *http.Response {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.CA)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", bearer)
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp
}

// Who may read sees the files, and only the servers in its scope; who may apply everywhere
// uploads.
func TestISORoles(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	content, digest := isoArchive(t, "a")
	begin := fmt.Sprintf(`{"file":"A.iso","digest":%q,"size":%d}`, digest, len(content))
	for who, want := range map[string]int{"": 401, "viewer": 403, "fencer": 403, "row7": 403, "operator": 200, "admin": 200} {
		if got := ask(t, a, who, http.MethodPost, protoapi.PathISOUploads, begin); got.status != want {
			t.Errorf("%s begins: %d %s", who, got.status, got.text)
		}
	}
	id := h.ISOs.List(t.Context()).Uploads[0].ID
	for who, want := range map[string]int{"": 401, "viewer": 403, "row7": 403} {
		if got := ask(t, a, who, http.MethodPut, protoapi.PathISOPiece(id, 0), string(content)); got.status != want {
			t.Errorf("%s sends: %d %s", who, got.status, got.text)
		}
	}
	if got := ask(t, a, "operator", http.MethodPut, protoapi.PathISOPiece(id, 0), string(content)); got.status != 200 || got.header.Get(protoapi.HeaderUploadOffset) != fmt.Sprint(len(content)) {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if got := ask(t, a, "operator", http.MethodPost, protoapi.PathISOFinish(id), `{"file":"A.iso"}`); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "x-1", IsoFile: "A.iso"}}}
	env.Metadata.Name = "x"
	objs := []resource.Object{env}
	for _, server := range []string{"n1", "n2"} {
		c := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: server, Owner: resource.Owner{UID: "u-" + server}, BootEnv: "x"}}
		c.Metadata.Name = server
		objs = append(objs, c)
	}
	for _, o := range objs {
		o.Default()
		if err := h.Store.Objects.Put(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for who, want := range map[string]string{"viewer": `"servers":["n1","n2"]`, "row7": `"servers":["n1"]`} {
		for _, path := range []string{protoapi.PathISOs, protoapi.PathISO("A.iso")} {
			if got := ask(t, a, who, http.MethodGet, path, ""); got.status != 200 || !strings.Contains(got.text, want) {
				t.Errorf("%s reads %s: %d %s", who, path, got.status, got.text)
			}
		}
	}
	if got := ask(t, a, "viewer", http.MethodDelete, protoapi.PathISO("A.iso"), ""); got.status != 403 {
		t.Errorf("a viewer removes: %d %s", got.status, got.text)
	}
	if got := ask(t, a, "operator", http.MethodDelete, protoapi.PathISO("A.iso"), ""); got.status != 409 || !strings.Contains(got.text, "n1, n2") {
		t.Errorf("in use: %d %s", got.status, got.text)
	}
	if got := ask(t, a, "operator", http.MethodDelete, protoapi.PathISO("A.iso")+"?force=true", ""); got.status != 200 {
		t.Errorf("forced: %d %s", got.status, got.text)
	}
}

// asAgent asks with a verified certificate.
func asAgent(t *testing.T, h http.Handler, cert *x509.Certificate, path, ranges string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.TLS = &tls.ConnectionState{}
	if cert != nil {
		r.TLS.VerifiedChains = [][]*x509.Certificate{{cert, {Raw: []byte("own")}}}
	}
	if ranges != "" {
		r.Header.Set("Range", ranges)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// An agent gets what its documents name, and nobody else gets anything: not the agent of
// another rack, whose certificate is as good, and no caller.
func TestISOContent(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	content, digest := isoArchive(t, "a")
	u, err := h.ISOs.Begin(t.Context(), protoapi.ISOUploadRequest{File: "A.iso", Digest: digest, Size: int64(len(content))}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.ISOs.Append(t.Context(), u.ID, 0, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ISOs.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "A.iso"}); err != nil {
		t.Fatal(err)
	}
	gone := "sha256:" + strings.Repeat("0", 64)
	h.Fleet.SetISO("r1-1", digest, true)
	h.Fleet.SetISO("r1-1", gone, true)
	agent := func(name string, units ...string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name, OrganizationalUnit: units}}
	}
	for _, row := range []struct {
		name         string
		cert         *x509.Certificate
		digest, rang string
		status       int
		want         []byte
	}{
		{"whole", agent("r1-1"), digest, "", 200, content},
		{"from an offset", agent("r1-1"), digest, "bytes=100-199", 206, content[100:200]},
		{"to beyond the end", agent("r1-1"), digest, "bytes=2000-9999", 206, content[2000:]},
		{"beyond the end", agent("r1-1"), digest, "bytes=9999-", 416, nil},
		{"a digest that is gone", agent("r1-1"), gone, "", 404, nil},
		{"no digest", agent("r1-1"), "..%2f..%2fetc", "", 403, nil},
		{"the agent of another rack", agent("r2-1"), digest, "", 403, nil},
		{"a client that is called like an agent", agent("r1-1", access.ClientUnit), digest, "", 403, nil},
		{"nobody", nil, digest, "", 403, nil},
	} {
		w := asAgent(t, a, row.cert, protoapi.PathISOContent+row.digest, row.rang)
		if w.Code != row.status || row.want != nil && !bytes.Equal(w.Body.Bytes(), row.want) {
			t.Errorf("%s: %d, %d bytes: %.200s", row.name, w.Code, w.Body.Len(), w.Body)
		}
		if row.want != nil && w.Header().Get("ETag") != `"`+digest+`"` {
			t.Errorf("%s: ETag %s", row.name, w.Header().Get("ETag"))
		}
	}
	if got := ask(t, a, "admin", http.MethodGet, protoapi.PathISOContent+digest, ""); got.status != 403 {
		t.Errorf("a caller's token: %d %s", got.status, got.text)
	}
}

// zeros are many bytes that are nowhere.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// swallows is a shelf that counts.
type swallows struct {
	api.ISOs
	n int64
}

func (s *swallows) Append(_ context.Context, _ string, _ int64, r io.Reader) (protoapi.ISOUpload, error) {
	n, err := io.Copy(io.Discard, r)
	s.n += n
	return protoapi.ISOUpload{Offset: s.n}, err
}

// A file of 5 GiB goes by without being in memory, in pieces as long as they may be.
func TestUploadMemory(t *testing.T) {
	const size = 5 << 30
	s := &swallows{}
	a, _ := handler(t, func(c *api.Config) { c.ISOs = s })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for s.n < size {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, protoapi.PathISOPiece("x", s.n), io.LimitReader(zeros{}, protoapi.MaxISOPiece))
		r.ContentLength = protoapi.MaxISOPiece
		r.Header.Set("Authorization", tokenOf("operator"))
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; s.n != size || got > 16<<20 {
		t.Errorf("%d bytes went by, and %d were allocated", s.n, got)
	}
}

// What is longer than a piece is refused, whether it says so or not.
func TestLongPiece(t *testing.T) {
	s := &swallows{}
	a, _ := handler(t, func(c *api.Config) { c.ISOs = s })
	for _, length := range []int64{-1, protoapi.MaxISOPiece + 1} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, protoapi.PathISOPiece("x", 0), io.LimitReader(zeros{}, protoapi.MaxISOPiece+1))
		r.ContentLength = length
		r.Header.Set("Authorization", tokenOf("operator"))
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("of length %d: %d %s", length, w.Code, w.Body)
		}
	}
	none, _ := handler(t, func(c *api.Config) { c.ISOs = nil })
	if got := ask(t, none, "admin", http.MethodGet, protoapi.PathISOs, ""); got.status != 422 {
		t.Errorf("a hub without files: %d %s", got.status, got.text)
	}
}

// FuzzISORequests: no body is answered as a failure of the hub.
func FuzzISORequests(f *testing.F) {
	content, digest := isoArchive(f, "a")
	f.Add(fmt.Sprintf(`{"file":"A.iso","digest":%q,"size":%d}`, digest, len(content)), `{"file":"A.iso"}`, "x")
	f.Add(`{"file":"../x"}`, `{}`, "%2e%2e")
	f.Add(`[]`, `null`, "")
	f.Fuzz(func(t *testing.T, begin, finish, name string) {
		a, _ := handler(t, func(c *api.Config) { c.Limits = gate.Limits{CallerPerSecond: 1e6} })
		for _, r := range []struct{ method, path, body string }{
			{http.MethodPost, protoapi.PathISOUploads, begin},
			{http.MethodPost, protoapi.PathISOFinish(name), finish},
			{http.MethodDelete, protoapi.PathISO(name), ""},
			{http.MethodGet, protoapi.PathISO(name), ""},
		} {
			req := httptest.NewRequestWithContext(t.Context(), r.method, r.path, strings.NewReader(r.body))
			req.Header.Set("Authorization", tokenOf("admin"))
			w := httptest.NewRecorder()
			a.ServeHTTP(w, req)
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && w.Code != http.StatusInsufficientStorage {
				t.Fatalf("%s %q %q: %d %s", r.method, r.path, r.body, w.Code, w.Body)
			}
		}
	})
}
