package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// older is a hub as it was before it had tables: it does not look at what asks for one, where which is true of the
// query. tables counts those who do ask.
func older(t *testing.T, hub *apitest.Hub, which func(url.Values) bool) (old *apitest.Hub, tables *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(hub.CA)
	tables = new(atomic.Int64)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}
	t.Cleanup(transport.CloseIdleConnections)
	srv := httptest.NewTLSServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		q := r.Out.URL.Query()
		if q.Get(api.QueryAs) == api.AsTable {
			tables.Add(1)
		}
		if which(q) {
			q.Del(api.QueryAs)
			q.Del(api.QueryWide)
		}
		r.Out.URL.RawQuery = q.Encode()
	}})
	t.Cleanup(srv.Close)
	return &apitest.Hub{URL: srv.URL, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}, tables
}

// What rackctl shows of a table that the hub has made is what it shows of resources that it makes a table of itself.
func TestTablesOfHubsAreThoseOfRackctl(t *testing.T) {
	hub, now := screenHub(t)
	old, tables := older(t, hub, func(url.Values) bool { return true })
	before := configured(t, old, apitest.Token)
	run := func(getenv func(string) string, args ...string) string {
		var out bytes.Buffer
		if code := Run(t.Context(), Config{Args: args, Out: &out, Err: &out, In: strings.NewReader(""), Getenv: getenv}); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, out.String())
		}
		return out.String()
	}
	for _, kind := range resource.Kinds() {
		for _, flags := range [][]string{nil, {"-o", "wide"}, {"--no-headers"}, {"-l", "row=7"}, {"-L", "zone"}, {"--show-labels"}} {
			args := append([]string{"get", kind.Plural()}, flags...)
			tables.Store(0)
			want, got := run(before, args...), run(now, args...)
			if got != want {
				t.Errorf("%v\n got\n%s\nwant\n%s", args, got, want)
			}
			if labelled := len(flags) > 0 && (flags[0] == "-L" || flags[0] == "--show-labels"); labelled == (tables.Load() > 0) {
				t.Errorf("%v: asked for %d tables", args, tables.Load())
			}
		}
	}
}

// Where a hub that has tables and one that has none answer in turn, each page is a table by itself, and nothing is left out.
func TestPagesOfHubsOfTwoVersions(t *testing.T) {
	hub := apitest.New(t)
	const n = 130 // more than the first page
	for i := range n {
		if err := hub.Store.Objects.Put(t.Context(), storetest.Rack(fmt.Sprintf("r%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for name, which := range map[string]func(url.Values) bool{
		"the older one last":  func(q url.Values) bool { return q.Get(api.QueryAfter) != "" },
		"the older one first": func(q url.Values) bool { return q.Get(api.QueryAfter) == "" },
	} {
		for _, form := range []string{"table", "wide"} {
			old, _ := older(t, hub, which)
			var out bytes.Buffer
			if code := Run(t.Context(), Config{Args: []string{"get", "racks", "-o", form}, Out: &out, Err: &out, In: strings.NewReader(""), Getenv: configured(t, old, apitest.Token)}); code != 0 {
				t.Fatalf("%s, %s: exit code %d\n%s", name, form, code, out.String())
			}
			next := 0
			for line := range strings.Lines(out.String()) {
				switch first := strings.Fields(line)[0]; first {
				case "NAME":
				case fmt.Sprintf("r%d", next):
					next++
				default:
					t.Errorf("%s, %s: %q, want r%d", name, form, line, next)
				}
			}
			if next != n {
				t.Errorf("%s, %s: %d racks, want %d", name, form, next, n)
			}
		}
	}
}
