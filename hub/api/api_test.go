package api_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wantCode(t *testing.T, err error, want protocol.Code) {
	t.Helper()
	if got := protocol.CodeOf(err); got != want {
		t.Fatalf("code %q, want %q (err: %v)", got, want, err)
	}
	if err != nil && protocol.HintOf(err) == "" {
		t.Errorf("error %q says not what to do next", err)
	}
}

// send sends raw text with the admin's token and returns status, problem and body.
func send(t *testing.T, h *apitest.Hub, method, path, token, text string) (int, protoapi.Problem, string) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.CA)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p protoapi.Problem
	if resp.StatusCode >= 400 {
		if ct := resp.Header.Get("Content-Type"); ct != protoapi.ProblemType {
			t.Errorf("%s %s: content type %q of %s", method, path, ct, raw)
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Errorf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return resp.StatusCode, p, string(raw)
}

const bearer = "Bearer " + apitest.Token

func TestProblems(t *testing.T) {
	h := apitest.New(t)
	long := `{"objects":["` + strings.Repeat("x", protoapi.MaxBody) + `"]}`
	rack := `{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r1"},"spec":{}}`
	for _, row := range []struct {
		name, method, path, token, body string
		status                          int
		code                            protocol.Code
		field                           string
	}{
		{"no token", "GET", "/v1/racks", "", "", 401, protocol.CodeDenied, ""},
		{"wrong token", "GET", "/v1/racks", "Bearer " + apitest.Token + "x", "", 401, protocol.CodeDenied, ""},
		{"wrong scheme", "GET", "/v1/racks", "Basic " + apitest.Token, "", 401, protocol.CodeDenied, ""},
		{"no token, no route", "GET", "/nowhere", "", "", 401, protocol.CodeDenied, ""},
		{"no route", "GET", "/nowhere", bearer, "", 404, protocol.CodeNotFound, ""},
		{"hub-made kind is not written", "PUT", "/v1/holds/x", bearer, rack, 404, protocol.CodeNotFound, ""},
		{"nothing of that name", "GET", "/v1/racks/none", bearer, "", 404, protocol.CodeNotFound, ""},
		{"body too long", "POST", "/v1/apply", bearer, long, 413, protocol.CodeInvalid, ""},
		{"body missing", "POST", "/v1/apply", bearer, "", 400, protocol.CodeInvalid, ""},
		{"body is no JSON", "POST", "/v1/apply", bearer, "{", 400, protocol.CodeInvalid, ""},
		{"two bodies", "POST", "/v1/apply", bearer, `{"objects":[]} {}`, 400, protocol.CodeInvalid, ""},
		{"unknown field of request", "POST", "/v1/apply", bearer, `{"force":true}`, 400, protocol.CodeInvalid, "force"},
		{"unknown kind", "POST", "/v1/apply", bearer, `{"objects":[{"apiVersion":"rackboot/v1","kind":"Pod"}]}`, 400, protocol.CodeInvalid, "kind"},
		{"other apiVersion", "POST", "/v1/apply", bearer, `{"objects":[{"apiVersion":"v1","kind":"Rack"}]}`, 400, protocol.CodeInvalid, "apiVersion"},
		{"unknown field of resource", "POST", "/v1/apply", bearer, `{"objects":[{"apiVersion":"rackboot/v1","kind":"Rack","spec":{"colour":1}}]}`, 400, protocol.CodeInvalid, "colour"},
		{"wrong type", "POST", "/v1/apply", bearer, `{"objects":[{"apiVersion":"rackboot/v1","kind":"Rack","spec":{"description":1}}]}`, 400, protocol.CodeInvalid, "spec.description"},
		{"name is not that of the URL", "PUT", "/v1/racks/r2", bearer, rack, 400, protocol.CodeInvalid, "metadata.name"},
		{"kind is not that of the URL", "PUT", "/v1/bmcs/r1", bearer, rack, 400, protocol.CodeInvalid, "kind"},
		{"limit too high", "GET", "/v1/events?limit=1001", bearer, "", 422, protocol.CodeInvalid, "query.limit"},
		{"after is no number", "GET", "/v1/events?after=x", bearer, "", 422, protocol.CodeInvalid, "query.after"},
		{"hold without a key", "POST", "/v1/servers/n1/holds", bearer, `{}`, 400, protocol.CodeInvalid, "spec.key"},
		{"join with a wrong token", "POST", "/v1/join", "", `{"token":"x","key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`, 403, protocol.CodeDenied, ""},
		{"join with a short key", "POST", "/v1/join", "", `{"token":"x","key":"AAAA"}`, 400, protocol.CodeInvalid, ""},
		{"join with a long body", "POST", "/v1/join", "", `{"token":"` + strings.Repeat("x", 64<<10) + `"}`, 413, protocol.CodeInvalid, ""},
		{"renewal of nobody", "POST", "/v1/renew", "", `{"agent":"a1"}`, 403, protocol.CodeDenied, ""},
		{"revoke without a reason", "POST", "/v1/agents/a1/revoke", bearer, `{"reason":" "}`, 400, protocol.CodeInvalid, ""},
		{"revoke without a token", "POST", "/v1/agents/a1/revoke", "", `{"reason":"x"}`, 401, protocol.CodeDenied, ""},
		{"revoke nobody", "POST", "/v1/agents/a9/revoke", bearer, `{"reason":"x"}`, 404, protocol.CodeNotFound, ""},
		{"replace without a token", "POST", "/v1/racks/r1/replace-agent", "", `{"reason":"x"}`, 401, protocol.CodeDenied, ""},
		{"join token of no rack", "POST", "/v1/racks/none/join-token", bearer, ``, 404, protocol.CodeNotFound, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, p, text := send(t, h, row.method, row.path, row.token, row.body)
			if status != row.status || p.Status != row.status || p.Code != row.code || p.Hint == "" || p.Detail == "" ||
				p.Type != "urn:rackboot:problem:"+string(row.code) {
				t.Fatalf("%d %s", status, text)
			}
			if row.field != "" && (len(p.Errors) != 1 || p.Errors[0].Path != row.field) {
				t.Errorf("want field %q: %s", row.field, text)
			}
			if strings.Contains(text, apitest.Token) {
				t.Error("the token is in the answer")
			}
		})
	}
}

func TestPanicIsAProblem(t *testing.T) {
	h := apitest.New(t)
	if _, err := h.Client(t).Objects.Apply(t.Context(), []resource.Object{storetest.Rack("r1")}, false); err != nil {
		t.Fatal(err)
	}
	h.Fleet.Broken = true
	status, p, text := send(t, h, "GET", "/v1/racks/r1", bearer, "")
	if status != 500 || p.Code != protocol.CodeInternal || strings.Contains(text, "broken fleet") {
		t.Fatalf("%d %s", status, text)
	}
}

func TestHealthAndOpenAPI(t *testing.T) {
	h := apitest.New(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _, text := send(t, h, "GET", path, "", ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	h.NotReady.Store(true)
	if status, p, _ := send(t, h, "GET", "/readyz", "", ""); status != 503 || p.Code != protocol.CodeUnavailable {
		t.Errorf("not ready: %d", status)
	}
	status, _, text := send(t, h, "GET", "/openapi.json", "", "")
	var doc struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	for _, want := range []struct{ path, method, says string }{
		{"/v1/servers", "get", "ListServer"},
		{"/v1/servers/{name}", "put", "#/components/schemas/Server"},
		{"/v1/claims/{name}", "delete", "application/problem+json"},
		{"/v1/apply", "post", "#/components/schemas/ApplyRequest"},
		{"/v1/servers/{name}/holds", "post", "#/components/schemas/HoldRequest"},
		{"/v1/servers/{name}/requests", "post", "#/components/schemas/RebootRequest"},
		{"/v1/holds/{id}/release", "post", "#/components/schemas/Hold"},
		{"/v1/requests/{id}", "get", "#/components/schemas/RequestStatus"},
		{"/v1/events", "get", "EventList"},
		{"/v1/racks/{name}/join-token", "post", "JoinToken"},
		{"/v1/join", "post", "#/components/schemas/JoinRequest"},
	} {
		if op := doc.Paths[want.path][want.method]; !bytes.Contains(op, []byte(want.says)) {
			t.Errorf("%s %s: no %q in %s", want.method, want.path, want.says, op)
		}
	}
	if _, ok := doc.Components.Schemas["Problem"]; !ok {
		t.Error("no schema of Problem")
	}
}

func TestMetricsHaveBoundedLabels(t *testing.T) {
	h := apitest.New(t)
	for _, path := range []string{"/v1/racks/a", "/v1/racks/b", "/a", "/b"} {
		send(t, h, "GET", path, bearer, "")
	}
	n, err := testutil.GatherAndCount(h.Registry, "rackboot_hub_api_requests_total")
	if err != nil || n != 2 {
		t.Fatalf("%d series, want one for the route and one for all others (%v)", n, err)
	}
	if problems, err := testutil.GatherAndLint(h.Registry); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
}

func TestNewRefusesAnIncompleteConfig(t *testing.T) {
	_, err := api.New(api.Config{})
	if protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Fatal(err)
	}
}

func TestClientGivesBackTheFieldErrors(t *testing.T) {
	c := apitest.New(t).Client(t)
	_, err := c.Objects.Apply(t.Context(), []resource.Object{storetest.Rack("r1"), storetest.BMC("b1", "nowhere")}, false)
	wantCode(t, err, protocol.CodeInvalid)
	p, ok := errors.AsType[*protoapi.Problem](err)
	if !ok || len(p.Errors) != 1 || p.Errors[0].Index != 1 || p.Errors[0].Path != "spec.rackRef.name" || p.Errors[0].Name != "b1" {
		t.Fatalf("%+v", p)
	}
	if _, err := protoapi.Get[*resource.Rack](t.Context(), c, "r1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Fatal("something was written")
	}
}

func TestResources(t *testing.T) {
	h := apitest.New(t)
	c, ctx := h.Client(t), t.Context()
	if out, err := c.Objects.Apply(ctx, storetest.Site(), true); err != nil || out.Results[0].Outcome != "created" {
		t.Fatalf("%+v, %v", out, err)
	}
	if all, err := protoapi.GetAll[*resource.Server](ctx, c); err != nil || len(all) != 0 {
		t.Fatalf("a dry run wrote: %v, %v", all, err)
	}
	out, err := c.Objects.Apply(ctx, storetest.Site(), false)
	if err != nil || len(out.Results) != len(storetest.Site()) || out.Results[0].Generation != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	h.Fleet.SetServer("n1", resource.ServerStatus{Phase: resource.PhaseAvailable})
	srv, err := protoapi.Get[*resource.Server](ctx, c, "n1")
	if err != nil || srv.Status.Phase != resource.PhaseAvailable || srv.Metadata.UID == "" || srv.Metadata.Revision == 0 {
		t.Fatalf("%+v, %v", srv, err)
	}
	if status, _, text := send(t, h, "PUT", "/v1/racks/r1", bearer,
		`{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r1"},"spec":{"description":"row 7"}}`); status != 200 || !strings.Contains(text, `"generation":2`) {
		t.Fatalf("%d %s", status, text)
	}
	_, err = c.Objects.Delete(ctx, resource.KindRack, "r1")
	wantCode(t, err, protocol.CodeConflict)
	if _, err = c.Objects.Delete(ctx, resource.KindServer, "n2"); err != nil {
		t.Fatal(err)
	}
}

func TestHoldsAndReboots(t *testing.T) {
	h := apitest.New(t)
	c, ctx := h.Client(t), t.Context()
	if _, err := c.Objects.Apply(ctx, append(storetest.Site(), storetest.Claim("c1", "n1")), false); err != nil {
		t.Fatal(err)
	}
	_, err := c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{})
	wantCode(t, err, protocol.CodeConflict) // the claim has no server yet
	claims, err := protoapi.GetAll[*resource.Claim](ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	claims[0].Status.Server = "n1"
	if err := h.Store.Objects.Put(ctx, claims[0]); err != nil {
		t.Fatal(err)
	}
	r, err := c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{Mode: resource.StopHard})
	if err != nil || r.Rack != "r1" || r.By != "admin" || r.Precondition.OwnerUID != claims[0].Metadata.UID ||
		!r.NotAfter.Equal(apitest.Now().Add(10*time.Minute)) || r.Report.Outcome != resource.OutcomePending {
		t.Fatalf("%+v, %v", r, err)
	}
	if back, err := c.Requests.Get(ctx, r.ID); err != nil || back.ID != r.ID || back.Mode != resource.StopHard {
		t.Fatalf("%+v, %v", back, err)
	}
	for _, at := range []time.Time{apitest.Now(), apitest.Now().Add(25 * time.Hour)} {
		_, err = c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{NotAfter: &at})
		wantCode(t, err, protocol.CodeInvalid)
	}
	_, err = c.Requests.Reboot(ctx, "n9", protoapi.RebootRequest{})
	wantCode(t, err, protocol.CodeNotFound)

	hold, err := c.Holds.Create(ctx, "n1", protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: "upgrade", Ref: "node/7"}})
	if err != nil || hold.Spec.Owner != "admin" || hold.Status.Word != resource.HoldAccepted {
		t.Fatalf("%+v, %v", hold, err)
	}
	again, err := c.Holds.Create(ctx, "n1", protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: "upgrade", Ref: "node/7"}})
	if err != nil || again.Metadata.Name != hold.Metadata.Name {
		t.Fatalf("%+v, %v", again, err)
	}
	if r, err = c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{}); err != nil || r.Report.Outcome != resource.OutcomePending {
		t.Errorf("a request waits behind a hold: %+v, %v", r, err)
	}
	released, err := c.Holds.Release(ctx, hold.Metadata.Name, protoapi.ReleaseRequest{})
	if err != nil || released.Status.ReleasedBy != "admin" {
		t.Fatalf("%+v, %v", released, err)
	}
	if _, err = c.Objects.Delete(ctx, resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	_, err = c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{})
	wantCode(t, err, protocol.CodeConflict) // being deleted
}

func TestEventsAndJoin(t *testing.T) {
	h := apitest.New(t)
	c, ctx := h.Client(t), t.Context()
	for range 3 {
		h.Fleet.AddEvent("n1", resource.CondHeld, "by test")
	}
	list, err := c.Events(ctx, 1, 1)
	if err != nil || len(list.Items) != 1 || list.Items[0].Index != 2 || list.Next != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err = c.Events(ctx, 3, 10); err != nil || len(list.Items) != 0 || list.Next != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := c.Objects.Apply(ctx, []resource.Object{storetest.Rack("r1")}, false); err != nil {
		t.Fatal(err)
	}
	token, err := c.Agents.NewToken(ctx, "r1", protoapi.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := protoapi.NewClient(protoapi.Config{BaseURL: h.URL, CA: h.CA})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.CloseIdle()
	if a, err := stranger.Agents.Join(ctx, protoapi.JoinRequest{Token: token.Token, Key: make([]byte, 32)}); err != nil || a.Agent != "a1" {
		t.Fatalf("%+v, %v", a, err)
	}
	_, err = stranger.Agents.Join(ctx, protoapi.JoinRequest{Token: token.Token, Key: make([]byte, 32)})
	wantCode(t, err, protocol.CodeDenied)
	_, err = stranger.Events(ctx, 0, 1)
	wantCode(t, err, protocol.CodeDenied)
}

// TestJoinsBehindOneAddress: who guesses is slowed down, and does not keep agents with good tokens from
// joining behind the same address, however many they are.
func TestJoinsBehindOneAddress(t *testing.T) {
	h := apitest.New(t)
	c, ctx := h.Client(t), t.Context()
	if _, err := c.Objects.Apply(ctx, []resource.Object{storetest.Rack("r1")}, false); err != nil {
		t.Fatal(err)
	}
	stranger, err := protoapi.NewClient(protoapi.Config{BaseURL: h.URL, CA: h.CA})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.CloseIdle()
	const burst = 10 // of strangers behind one address
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(h.CA)
	raw := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer raw.CloseIdleConnections()
	// guess asks once, as a client that does not come again.
	guess := func(body string) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+protoapi.PathJoin, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := raw.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for i := range 3 * burst {
		token, err := c.Agents.NewToken(ctx, "r1", protoapi.TokenRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.Agents.Join(ctx, protoapi.JoinRequest{Token: token.Token, Key: make([]byte, 32)}); err != nil {
			t.Fatalf("join %d: %v", i, err)
		}
		body := `{"token":"guess","csr":"","key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","host":"h"}`
		if i%2 == 1 {
			body = `{"token":1}`
		}
		if got := guess(body); i < burst == (got == http.StatusTooManyRequests) {
			t.Fatalf("guess %d: %d", i, got)
		}
	}
}
