package api_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// tokenOf is the Authorization of a client of apitest.
func tokenOf(name string) string {
	switch name {
	case "":
		return ""
	case "admin":
		return bearer
	case "ha":
		return "Bearer " + apitest.ClientToken
	}
	return "Bearer " + apitest.TokenOf(name)
}

// reply is what a handler has answered.
type reply struct {
	status  int
	header  http.Header
	text    string
	problem protoapi.Problem
}

// ask sends a request to a handler, as one of apitest's callers. Each header is "K: v".
func ask(t *testing.T, h http.Handler, who, method, path, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if strings.HasPrefix(path, protoapi.PathWatches) {
		cancel() // it has no end of its own: it is left at once
	}
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if who != "" {
		r.Header.Set("Authorization", tokenOf(who))
	}
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), text: w.Body.String()}
	if out.status >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &out.problem); err != nil {
			t.Errorf("%s %s: %v in %s", method, path, err, out.text)
		}
	}
	return out
}

// handler is an API without a server, with the clients of apitest, and what it stands on.
func handler(t testing.TB, change func(*api.Config)) (*api.API, *apitest.Hub) {
	t.Helper()
	return apitest.NewHandler(t, change)
}

// rows applies two servers, n1 in row 7 and n2 in row 8, each behind a BMC of its own and
// with a claim, and a hold on each.
func rows(t *testing.T, s *store.Store) (hold1, hold2 string) {
	t.Helper()
	objs := storetest.Site()
	objs[4].Head().Metadata.Labels = map[string]string{"row": "7"}
	objs[5].Head().Metadata.Labels = map[string]string{"row": "8"}
	objs = append(objs, storetest.BMC("b3", "r1"), storetest.Claim("c1", "n1"), storetest.Claim("c2", "n2"))
	if _, err := s.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, server := range []string{"n1", "n2"} {
		h, err := s.Holds.Create(t.Context(), storetest.Hold("row7", "k", server))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, h.Metadata.Name)
	}
	return ids[0], ids[1]
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func applyBody(t *testing.T, objs ...resource.Object) string {
	t.Helper()
	req := protoapi.ApplyRequest{}
	for _, o := range objs {
		req.Objects = append(req.Objects, json.RawMessage(text(t, o)))
	}
	return text(t, req)
}

// askTLS asks who somebody is by a connection alone.
func askTLS(t *testing.T, h http.Handler, state *tls.ConnectionState) (status int) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, protoapi.PathWhoami, http.NoBody)
	r.TLS = state
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}
