package gate

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/integration/memnet"
)

// Only a probe waits for an agent, and only an export is long; everything else is
// answered at once.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         time.Duration
	}{
		{http.MethodPost, "/v1/bmcs/b1/probe", 200 * time.Second},
		{http.MethodGet, "/v1/bmcs/probe", requestTimeout},
		{http.MethodPost, "/v1/bmcs/b1/accept", requestTimeout},
		{http.MethodPost, "/v1/servers/probe/holds", requestTimeout},
		{http.MethodPost, "/v1/apply", requestTimeout},
		{http.MethodGet, "/v1/audit", requestTimeout},
		{http.MethodGet, "/v1/audit/export", 15 * time.Minute},
		{http.MethodPut, "/v1/iso-uploads/x/content", 10 * time.Minute},
		{http.MethodPut, "/v1/agentpackages/x/programs/amd64", 10 * time.Minute},
		{http.MethodPut, "/v1/agentpackages/x", 20 * time.Second},
		{http.MethodGet, "/v1/iso-content/x", 10 * time.Minute},
		{http.MethodPost, "/v1/iso-uploads/x/finish", 30 * time.Minute},
		{http.MethodGet, "/v1/isos/content", requestTimeout},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := patience(r); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
}

// A request that may take longer than the server's timeouts is neither cut off nor
// taken for one whose client is gone, over either version of HTTP.
func TestExtend(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const timeout = 200 * time.Millisecond
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				extend(w, requestTimeout+time.Minute)
				select {
				case <-r.Context().Done():
					t.Error("the client counts as gone")
				case <-time.After(requestTimeout):
				}
				if _, err := w.Write([]byte("done")); err != nil {
					t.Error(err)
				}
			}))
			if err := s.Listener.Close(); err != nil { // of real sockets
				t.Fatal(err)
			}
			ln := memnet.Listen("hub.example")
			s.Listener, s.EnableHTTP2 = ln, h2
			s.Config.ReadTimeout, s.Config.WriteTimeout = timeout, timeout
			s.StartTLS()
			defer s.Close()
			client := s.Client()
			client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.Dial(ctx) }
			defer client.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", nil) // as in its certificate
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if string(text) != "done" || err != nil || (resp.ProtoMajor == 2) != h2 {
				t.Errorf("answered %q by %s, %v", text, resp.Proto, err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
