package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// older is a hub as it was before it had tables: it does not look at what asks for one. tables counts those who do.
func older(t *testing.T, hub *apitest.Hub) (old *apitest.Hub, tables *atomic.Int64) {
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
		q.Del(api.QueryAs)
		q.Del(api.QueryWide)
		r.Out.URL.RawQuery = q.Encode()
	}})
	t.Cleanup(srv.Close)
	return &apitest.Hub{URL: srv.URL, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}, tables
}

// What rackctl shows of a table that the hub has made is what it shows of resources that it makes a table of itself.
func TestTablesOfHubsAreThoseOfRackctl(t *testing.T) {
	hub, now := screenHub(t)
	old, tables := older(t, hub)
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
