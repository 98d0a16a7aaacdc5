package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// scripted answers request n with step n, and the last step for ever.
type scripted struct {
	steps []func(*http.Request) (*http.Response, error)
	seen  []*http.Request
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	step := s.steps[min(len(s.seen), len(s.steps)-1)]
	s.seen = append(s.seen, r)
	return step(r)
}

func refuse(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func reply(status int, contentType, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Request: r,
			Header: http.Header{"Content-Type": {contentType}, "Location": {"https://elsewhere.example/"}},
			Body:   io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

func problemReply(p *Problem) func(*http.Request) (*http.Response, error) {
	raw, _ := json.Marshal(p)
	return reply(p.Status, ProblemType, string(raw))
}

func client(t *testing.T, steps ...func(*http.Request) (*http.Response, error)) (*Client, *scripted) {
	t.Helper()
	s := &scripted{steps: steps}
	c, err := NewClient(Config{BaseURL: "https://hub.example:8443/", Token: "secret", HTTPClient: &http.Client{Transport: s}})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestClientRepeatsOnlyWhatIsSafe(t *testing.T) {
	ok := reply(200, "application/json", `{"items":[]}`)
	away := problemReply(ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "x", "starting").WithHint("wait")))
	get := func(ctx context.Context, c *Client) error { _, err := c.Events(ctx, 0, 1); return err }
	post := func(ctx context.Context, c *Client) error {
		_, err := c.Requests.Reboot(ctx, "n1", RebootRequest{})
		return err
	}
	for _, row := range []struct {
		name  string
		call  func(context.Context, *Client) error
		steps []func(*http.Request) (*http.Response, error)
		tries int
		code  protocol.Code
	}{
		{"get, away for a moment", get, []func(*http.Request) (*http.Response, error){refuse, away, ok}, 3, ""},
		{"get, away", get, []func(*http.Request) (*http.Response, error){refuse}, getTries, protocol.CodeUnavailable},
		{"get, bad gateway", get, []func(*http.Request) (*http.Response, error){reply(502, "text/html", "x"), ok}, 2, ""},
		{"get, not found", get, []func(*http.Request) (*http.Response, error){reply(404, "text/html", "x")}, 1, protocol.CodeNotFound},
		{"get, no answer", get, []func(*http.Request) (*http.Response, error){hang}, 1, protocol.CodeTimeout},
		{"get, redirect", get, []func(*http.Request) (*http.Response, error){reply(302, "text/html", "x")}, 1, protocol.CodeInternal},
		{"get, not JSON", get, []func(*http.Request) (*http.Response, error){reply(200, "text/html", "<html>")}, 1, protocol.CodeInternal},
		{"post, away", post, []func(*http.Request) (*http.Response, error){refuse}, 1, protocol.CodeUnavailable},
		{"post, no answer", post, []func(*http.Request) (*http.Response, error){hang}, 1, protocol.CodeTimeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := client(t, row.steps...)
				began := time.Now()
				err := row.call(t.Context(), c)
				if got := protocol.CodeOf(err); got != row.code {
					t.Fatalf("code %q, want %q: %v", got, row.code, err)
				}
				if len(s.seen) != row.tries {
					t.Errorf("%d tries, want %d", len(s.seen), row.tries)
				}
				if took := time.Since(began); took > callTimeout {
					t.Errorf("took %s without a deadline of the caller", took)
				}
				if err != nil && (protocol.HintOf(err) == "" || strings.Contains(err.Error(), "secret")) {
					t.Errorf("%v, hint %q", err, protocol.HintOf(err))
				}
				if got := s.seen[0].Header.Get("Authorization"); got != "Bearer secret" {
					t.Errorf("authorization %q", got)
				}
			})
		})
	}
}

func TestClientSendsNoBodyThatIsTooLong(t *testing.T) {
	c, s := client(t, reply(200, "application/json", "{}"))
	_, err := c.Holds.Create(t.Context(), "n1", HoldRequest{HoldTerms: resource.HoldTerms{Reason: strings.Repeat("x", MaxBody)}})
	if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || len(s.seen) != 0 {
		t.Fatalf("%v after %d tries", err, len(s.seen))
	}
}

func TestNewClientRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"nothing":            {},
		"plain http":         {BaseURL: "http://hub.example"},
		"path":               {BaseURL: "https://hub.example/v1"},
		"password":           {BaseURL: "https://u:p@hub.example"},
		"no PEM":             {BaseURL: "https://hub.example", CA: []byte("x")},
		"token of two words": {BaseURL: "https://hub.example", Token: "a b"},
	} {
		_, err := NewClient(cfg)
		if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: a password is in %v", name, err)
		}
	}
	if _, err := NewClient(Config{BaseURL: "http://127.0.0.1:8080"}); err != nil {
		t.Error(err)
	}
}

// Every code survives the way through a problem and back, with op and hint.
func TestProblemRoundTrip(t *testing.T) {
	for _, code := range protocol.Codes() {
		synctest.Test(t, func(t *testing.T) { // one that is answered as unavailable is tried again
			c, _ := client(t, problemReply(ProblemOf(protocol.Errorf(code, "do", "it failed: %w", protocol.FieldErrors{{Path: "spec.x", Message: "m"}}).WithHint("try this"))))
			_, err := c.Requests.Get(t.Context(), "r1")
			e, ok := errors.AsType[*protocol.Error](err)
			if !ok || e.Code != code || e.Op != "do" || e.Hint != "try this" || !strings.HasPrefix(e.Message, "it failed") {
				t.Errorf("%s: %+v", code, err)
			}
			p, ok := errors.AsType[*Problem](err)
			if !ok || len(p.Errors) != 1 || p.Errors[0].Path != "spec.x" || p.Status != code.HTTPStatus() {
				t.Errorf("%s: %+v", code, p)
			}
		})
	}
	if p := ProblemOf(errors.New("password of the database")); p.Code != protocol.CodeInternal || strings.Contains(p.Detail, "password") {
		t.Errorf("%+v", p)
	}
}

func TestPathsAreEscaped(t *testing.T) {
	for got, want := range map[string]string{
		PathObject(resource.KindServer, "a/../b"): "/v1/servers/a%2F..%2Fb",
		PathHolds("n1"):                            "/v1/servers/n1/holds",
		PathRelease("x?y"):                         "/v1/holds/x%3Fy/release",
		pathConfirmDown("x/y"):                     "/v1/holds/x%2Fy/confirm-down",
		pathFirmware("n1"):                         "/v1/servers/n1/firmware",
		PathAnnotations(resource.KindServer, "n1"): "/v1/servers/n1/annotations",
		pathJoinToken("r1"):                        "/v1/racks/r1/join-token",
		PathServerRequests("n1"):                   "/v1/servers/n1/requests",
		pathRequest("#"):                           "/v1/requests/%23",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzProblem: no answer of whatever is at the URL makes the client panic or
// return success for a failure.
func FuzzProblem(f *testing.F) {
	f.Add(500, ProblemType, `{"code":"conflict","detail":"x","errors":[{"path":"a"}]}`)
	f.Add(503, ProblemType, `{"code":7}`)
	f.Add(404, "text/html", `<html>`)
	f.Add(200, "application/json", `{"id":"r","outcome":`)
	f.Fuzz(func(t *testing.T, status int, contentType, body string) {
		resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}}
		if err := problemIn("get", resp, []byte(body)); err == nil || err.Error() == "" {
			t.Errorf("error %v", err)
		}
	})
}
