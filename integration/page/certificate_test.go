package page

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/web"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Who has a client certificate in the browser is in without a login, does what its roles allow, and has no other site do
// it: what a site sends by the certificate is refused.
func TestCertificate(t *testing.T) {
	t.Parallel()
	a, h := apitest.NewHandler(t, func(*api.Config) {})
	f, err := web.New(web.Config{API: a, Callers: a.Gate(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(f)
	srv.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: x509.NewCertPool()}
	srv.TLS.ClientCAs.AddCert(h.ClientCA())
	srv.StartTLS()
	t.Cleanup(srv.Close)
	if _, err := h.Store.Sets.Apply(t.Context(), storetest.Site(), store.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}

	home, profile := t.TempDir(), t.TempDir()
	imported(t, h, home, "fencer")
	choosing(t, profile, srv.URL)
	b := browserWith(t, profile, chromedp.Env("HOME="+home))
	p := at(b, t, srv.URL)
	p.until(`document.querySelector("header .who")`, patience)
	p.sees("fencer")
	p.at("server/n1")
	p.press("Hold")
	p.fills("reason", "a fan is loud")
	p.yes()
	holds := store.List[*resource.Hold](h.Store.Objects)
	if len(holds) != 1 || holds[0].Spec.Owner != "fencer" {
		t.Errorf("%+v", holds)
	}
	for _, e := range h.Records.Entries() {
		if e.Op == "hold" && (e.Caller != "fencer" || e.Outcome == protocol.AuditRefused) {
			t.Errorf("%+v", e)
		}
	}
	p.picture("certificate")

	evil := httptest.NewTLSServer(nil)
	t.Cleanup(evil.Close)
	p.do(chromedp.Navigate(evil.URL))
	ask[bool](p, `(() => { window.sent = null; fetch(`+quote(srv.URL+"/v1/servers/n2/holds")+`, {method: "POST", credentials: "include", mode: "no-cors", body: '{"key":"evil"}'}).then((r) => { window.sent = r.type; }, (e) => { window.sent = String(e); }); return true; })()`)
	p.until("window.sent", patience)
	if n := len(store.List[*resource.Hold](h.Store.Objects)); n != 1 {
		t.Errorf("after a request of another site there are %d holds", n)
	}
}

// imported has the browser of a home know a client certificate: Chromium keeps them in a database of NSS.
func imported(t *testing.T, h *apitest.Hub, home, commonName string) {
	t.Helper()
	cert, key := h.Certificate(t, commonName)
	dir := t.TempDir()
	file := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nss, both := filepath.Join(home, ".pki", "nssdb"), filepath.Join(dir, "both.p12")
	if err := os.MkdirAll(nss, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range [][]string{
		{"openssl", "pkcs12", "-export", "-in", file("cert.pem", cert), "-inkey", file("key.pem", key), "-out", both, "-passout", "pass:x", "-name", commonName},
		{"certutil", "-d", "sql:" + nss, "-N", "--empty-password"},
		{"pk12util", "-d", "sql:" + nss, "-i", both, "-W", "x"},
	} {
		program, err := exec.LookPath(cmd[0])
		if err != nil {
			if requires("chromium") {
				t.Fatalf("%s is not installed; run integration/packages as root", cmd[0])
			}
			t.Skipf("%s is not installed", cmd[0])
		}
		if out, err := exec.CommandContext(t.Context(), program, cmd[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd[0], err, out)
		}
	}
}

// choosing has the browser of a profile show its only certificate to a site without asking somebody.
func choosing(t *testing.T, profile, site string) {
	t.Helper()
	set := map[string]any{"profile": map[string]any{"content_settings": map[string]any{"exceptions": map[string]any{
		"auto_select_certificate": map[string]any{site + ",*": map[string]any{"setting": map[string]any{"filters": []any{map[string]any{}}}}},
	}}}}
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(profile, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(profile, "Default", "Preferences"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// at has somebody open the page in the browser's own profile, which has what was put there.
func at(from context.Context, t *testing.T, url string) *person {
	t.Helper()
	p := &person{t: t, ctx: from, axe: axe(t)}
	if err := chromedp.Listen(from, p.listen); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(url + "/"))
	return p
}
