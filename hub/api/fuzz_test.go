package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	protoapi "rackboot/protocol/api"
)

// FuzzRequest sends requests through the whole handler to a hub in memory, as a caller
// with a scope: nothing panics, a refusal is a problem that says what to do, and what is
// out of the scope is as it was.
func FuzzRequest(f *testing.F) {
	post, put, del := http.MethodPost, http.MethodPut, http.MethodDelete
	for _, seed := range []struct{ method, path, body, key, match string }{
		{post, "/v1/apply", `{"objects":[{"apiVersion":"rackboot/v1","kind":"Claim","metadata":{"name":"c1"},"spec":{"serverRef":{"name":"n1"},"power":"On","image":"r/os:1"}}]}`, "", ""},
		{post, "/v1/apply", `{"objects":[{"apiVersion":"rackboot/v1","kind":"Claim","metadata":{"name":"c3"},"spec":{"serverSelector":{"matchLabels":{"row":"7"}},"power":"Off"}}],"dryRun":true}`, "k", ""},
		{post, "/v1/apply", `{"objects":[{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1","labels":{"row":"7"}},"spec":{"bmcRef":{"name":"b2"},"segmentRef":null}},7]}`, "", ""},
		{put, "/v1/servers/n1", `{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1","revision":18446744073709551615}}`, "", `"3"`},
		{put, "/v1/racks/r1", `{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r1"},"spec":{"softTimeout":"90s"}}`, "", ""},
		{post, "/v1/servers/n1/holds", `{"key":"k","mode":"hard","softTimeout":"1s","ttl":"1h"}`, "once", ""},
		{post, "/v1/servers/n1/requests", `{"anyPhase":true,"mode":"hard","notAfter":"2026-11-20T09:05:00Z"}`, "once", ""},
		{post, "/v1/servers/n1/annotations", `{"annotation":"reboot.metal3.io/x","value":"{\"mode\":\"hard\"}"}`, "", ""},
		{post, "/v1/servers/n1/firmware", `{"for":"1m","reason":"x"}`, "", ""},
		{post, "/v1/servers/n1/accept", `{"identity":"x"}`, "", ""},
		{post, "/v1/servers/n1/re-enrol", `{"enrolment":"x"}`, "", ""},
		{post, "/v1/bmcs/b1/accept", `{"credentialsRef":"local:x","fingerprint":"sha256:00"}`, "", ""},
		{post, "/v1/bmcs/b1/probe", `{"systemURI":"/redfish/v1/Systems/1"}`, "", ""},
		{post, "/v1/servers/n1/adopt", `{"provisioned":"r/os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","reason":"x"}`, "", ""},
		{post, "/v1/import", `{"reason":"x","objects":[{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r9"}}]}`, "", ""},
		{post, "/v1/bulk", `{"action":"hold","selector":"row=7","hold":{"key":"k"},"parallel":2,"stopAfter":1}`, "once", ""},
		{post, "/v1/bulk", `{"action":"reboot","names":["n1","n2"],"request":{"mode":"hard"}}`, "", ""},
		{post, "/v1/holds/x/release", `{"breakGlass":"why"}`, "", ""},
		{post, "/v1/holds/x/confirm-down", `{"reason":"why"}`, "", ""},
		{del, "/v1/claims/c1?releaseHolds=x", ``, "k", `"1"`},
		{post, "/v1/join", `{"token":"x","csr":"-----BEGIN"}`, "", ""},
		{http.MethodGet, "/v1/events?after=18446744073709551615&limit=1", ``, "", ""},
		{http.MethodGet, "/v1/servers?limit=1&after=AAAAAAAA&selector=row%20in%20(7,8),!x&field=status.phase!%3DHeld", ``, "", ""},
		{"BREW", "/v1/../%2e%2e/racks", `{`, "", ""},
	} {
		f.Add(seed.method, seed.path, seed.body, seed.key, seed.match)
	}
	f.Fuzz(func(t *testing.T, method, path, body, key, match string) {
		a, h := handler(t, func(*api.Config) {})
		rows(t, h.Store)
		outside := func() string {
			out := ""
			for _, p := range []string{"/v1/racks/r1", "/v1/segments/boot", "/v1/bmcs/b2", "/v1/bmcs/b3", "/v1/servers/n2", "/v1/claims/c2"} {
				out += ask(t, a, "viewer", http.MethodGet, p, "").text
			}
			return out
		}
		before := outside()
		r, err := http.NewRequestWithContext(t.Context(), method, "https://hub"+path, strings.NewReader(body))
		if err != nil {
			return // no client could send it
		}
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("Authorization", tokenOf("row7"))
		r.Header.Set(protoapi.HeaderIdempotencyKey, key)
		r.Header.Set("If-Match", match)
		w := httptest.NewRecorder()
		began := time.Now()
		a.ServeHTTP(w, r)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		text := w.Body.String()
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable || w.Code < 200 {
			t.Errorf("%d %s", w.Code, text)
		}
		if w.Code >= 400 && (w.Header().Get("Content-Type") != protoapi.ProblemType || !strings.Contains(text, `"hint":`)) {
			t.Errorf("%d %q: %s", w.Code, w.Header().Get("Content-Type"), text)
		}
		if strings.Contains(text, apitest.TokenOf("row7")) || strings.Contains(text, apitest.Token) {
			t.Errorf("a token is in %s", text)
		}
		if after := outside(); after != before {
			t.Errorf("something out of the scope was changed:\n%s\n%s", before, after)
		}
		if bad := h.Store.Objects.Altered(); len(bad) > 0 {
			t.Errorf("shared resources were changed: %v", bad)
		}
	})
}
