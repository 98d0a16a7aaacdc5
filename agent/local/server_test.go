package local

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestRoutes asks for everything, as the commands do.
func TestRoutes(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	if s, err := r.client.Status(ctx); err != nil || s.Agent != "rack-a-1" {
		t.Errorf("status %+v, %v", s, err)
	}
	if all, err := r.client.Servers(ctx); err != nil || len(all) != 1 || all[0].Server != "n1" {
		t.Errorf("servers %+v, %v", all, err)
	}
	s, err := r.client.Server(ctx, "n1")
	if err != nil || s.Explain.WaitsFor != WaitDocument || len(s.Explain.Conditions) != 1 || s.Explain.Conditions[0].Hint == "" {
		t.Errorf("server %+v, %v", s, err)
	}
	if _, err := r.client.Server(ctx, "n2"); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("another: %v", err)
	}
	if tr, err := r.client.Trace(ctx, "n1", 3); err != nil || tr.Serial != 3 {
		t.Errorf("trace %+v, %v", tr, err)
	}
	if _, err := r.client.Trace(ctx, "n1", -1); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("trace of no number: %v", err)
	}
	if all, err := r.client.Holds(ctx); err != nil || all == nil || len(all) != 0 {
		t.Errorf("holds %+v, %v", all, err)
	}
	req := api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard, TTL: protocol.Duration(time.Hour), Reason: "smoke"}}
	h, err := r.client.Place(ctx, "n1", req)
	if err != nil || h.ID != "id-1" || h.Owner != me || h.Mode != resource.StopHard || h.OnExpiry != resource.ExpiryKeep || !h.Local {
		t.Fatalf("hold %+v, %v", h, err)
	}
	if again, err := r.client.Place(ctx, "n1", req); err != nil || again.ID != h.ID {
		t.Errorf("again %+v, %v", again, err)
	}
	if h, err := r.client.Place(ctx, "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "soft"}}); err != nil || h.Mode != resource.StopSoft {
		t.Errorf("the default mode: %+v, %v", h, err)
	}
	if c, err := r.client.ConfirmDown(ctx, h.ID, api.ConfirmRequest{Reason: " cables are out "}); err != nil || c.ID != h.ID {
		t.Errorf("confirm %+v, %v", c, err)
	}
	if rel, err := r.client.Release(ctx, h.ID, api.ReleaseRequest{}); err != nil || rel.Released == nil || rel.Released.By != me {
		t.Errorf("release %+v, %v", rel, err)
	}
	r.agent.holds["hub-1"] = Hold{ActiveHold: resource.ActiveHold{ID: "hub-1", HoldSpec: resource.HoldSpec{Owner: "admin"}}}
	if _, err := r.client.Release(ctx, "hub-1", api.ReleaseRequest{BreakGlass: "  "}); protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" {
		t.Errorf("a foreign release: %v", err)
	}
	if _, err := r.client.Release(ctx, "hub-1", api.ReleaseRequest{BreakGlass: "it burns"}); err != nil {
		t.Errorf("breaking the glass: %v", err)
	}
	want := []string{
		"place n1 k " + me, "place n1 k " + me, "place n1 soft " + me, `confirm id-1 ` + me + ` "cables are out"`,
		`release id-1 ` + me + ` ""`, `release hub-1 ` + me + ` ""`, `release hub-1 ` + me + ` "it burns"`,
	}
	if !slices.Equal(r.agent.calls, want) {
		t.Errorf("calls %q", r.agent.calls)
	}
	if n := testutil.ToFloat64(r.api.answers.WithLabelValues("denied")); n != 1 {
		t.Errorf("%v denied", n)
	}
	if problems, err := testutil.GatherAndLint(r.reg); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestWrongRequests are answered with problems and change nothing.
func TestWrongRequests(t *testing.T) {
	r := newRig(t)
	for name, row := range map[string]struct {
		method, path, body string
		status             int
		detail             string
	}{
		"no route":          {"GET", "/v1/bmcs", "", 404, "no GET"},
		"another method":    {"DELETE", "/v1/holds", "", 404, "no DELETE"},
		"no key":            {"POST", "/v1/servers/n1/holds", `{}`, 400, "spec.key"},
		"empty body":        {"POST", "/v1/servers/n1/holds", ``, 400, "spec.key"},
		"another mode":      {"POST", "/v1/servers/n1/holds", `{"key":"k","mode":"medium"}`, 400, "spec.mode"},
		"short ttl":         {"POST", "/v1/servers/n1/holds", `{"key":"k","ttl":"1s"}`, 400, "spec.ttl"},
		"long soft":         {"POST", "/v1/servers/n1/holds", `{"key":"k","softTimeout":"2h"}`, 400, "spec.softTimeout"},
		"expiry alone":      {"POST", "/v1/servers/n1/holds", `{"key":"k","onExpiry":"release"}`, 400, "spec.onExpiry"},
		"no name":           {"POST", "/v1/servers/N_1/holds", `{"key":"k"}`, 400, "spec.server"},
		"unknown field":     {"POST", "/v1/servers/n1/holds", `{"key":"k","owner":"admin"}`, 400, "owner"},
		"more than one":     {"POST", "/v1/servers/n1/holds", `{"key":"k"}{"key":"l"}`, 400, "more"},
		"not JSON":          {"POST", "/v1/servers/n1/holds", `key: k`, 400, "wrong"},
		"too long":          {"POST", "/v1/servers/n1/holds", `{"reason":"` + strings.Repeat("r", maxBody) + `"}`, 413, "too large"},
		"long reason":       {"POST", "/v1/servers/n1/holds", `{"key":"k","reason":"` + strings.Repeat("r", 1025) + `"}`, 400, "spec.reason"},
		"long break glass":  {"POST", "/v1/holds/x/release", `{"breakGlass":"` + strings.Repeat("r", 1025) + `"}`, 400, "breakGlass"},
		"resume, no reason": {"POST", "/v1/servers/n1/resume", `{"reason":" "}`, 400, "reason"},
		"no reason":         {"POST", "/v1/holds/x/confirm-down", `{"reason":" "}`, 400, "reason"},
		"long word":         {"POST", "/v1/holds/x/confirm-down", `{"reason":"` + strings.Repeat("r", 1025) + `"}`, 400, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := r.raw(t, row.method, row.path, row.body)
			raw, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			var p api.Problem
			if err := json.Unmarshal(raw, &p); err != nil || resp.StatusCode != row.status || resp.Header.Get("Content-Type") != api.ProblemType ||
				!strings.Contains(p.Detail, row.detail) || p.Hint == "" {
				t.Errorf("%s: %s, %v", resp.Status, raw, err)
			}
		})
	}
	if len(r.agent.calls) > 0 {
		t.Errorf("calls %q", r.agent.calls)
	}
}

// TestOwnNames: owners are names of this host's users, and can be mistaken for no
// others.
func TestOwnNames(t *testing.T) {
	for name, row := range map[string]struct {
		uid    uint32
		answer string
		err    error
		want   string
	}{
		"a name":                 {1000, "ann", nil, "ann"},
		"root":                   {0, "root", nil, "root"},
		"no name":                {1000, "", errors.New("unknown user"), "1000"},
		"an empty name":          {1000, "", nil, "1000"},
		"another user's number":  {1000, "0", nil, "1000"},
		"white space":            {1000, "ann b", nil, "1000"},
		"a control character":    {1000, "ann\x1b", nil, "1000"},
		"a very long name":       {1000, strings.Repeat("a", 65), nil, "1000"},
		"the highest number":     {1<<32 - 1, "", errors.New("unknown"), "4294967295"},
		"digits with a letter":   {1000, "0x", nil, "0x"},
		"with another's prefix":  {1000, "local:root", nil, "local:root"},
		"an address in a domain": {1000, "ann@example.com", nil, "ann@example.com"},
	} {
		if got := nameOf(row.uid, func(string) (string, error) { return row.answer, row.err }); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// TestNoPeer: who cannot be named is served nothing.
func TestNoPeer(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := peerOf(a); protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("%v", err)
	}
	r := newRig(t)
	w := &recorder{}
	req := mustRequest(t)
	r.api.ServeHTTP(w, req.WithContext(r.api.meet(req.Context(), a)))
	if w.status != 500 || len(r.agent.calls) > 0 {
		t.Errorf("status %d, calls %v", w.status, r.agent.calls)
	}
	w = &recorder{}
	r.api.ServeHTTP(w, req)
	if w.status != 500 {
		t.Errorf("without a connection: status %d", w.status)
	}
}

// TestManyConnections: more than there are places for wait, and are served when one
// goes.
func TestManyConnections(t *testing.T) {
	r := newRig(t)
	var idle []net.Conn
	for range maxConns {
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		idle = append(idle, c)
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.client.Status(t.Context())
		done <- err
	}()
	for i := range 3 { // no place is lost by those that come and go
		if err := idle[i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestStop: the socket goes with the agent, and who calls then is told so.
func TestStop(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	_, err := r.client.Status(t.Context())
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), r.path) {
		t.Errorf("%v, hint %q", err, protocol.HintOf(err))
	}
}

// TestMirror: what there is of package repositories is shown, and dropped; what is refused says why.
func TestMirror(t *testing.T) {
	r := newRig(t)
	if s, err := r.client.Mirror(t.Context()); err != nil || len(s.Repositories) != 1 || s.Quota != 20 {
		t.Errorf("%+v, %v", s, err)
	}
	if f, err := r.client.Flush(t.Context(), api.FlushRequest{What: "/debian", Reason: "wrong key"}); err != nil || f.Objects != 3 || f.What != "/debian" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.client.Flush(t.Context(), api.FlushRequest{What: "away"}); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if _, err := r.client.Flush(t.Context(), api.FlushRequest{Reason: strings.Repeat("x", maxReason+1)}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
	if want := []string{`flush "/debian" false`, `flush "away" false`}; !slices.Equal(r.agent.calls, want) {
		t.Errorf("called %q", r.agent.calls)
	}
}
