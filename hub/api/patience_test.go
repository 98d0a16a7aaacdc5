package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Only a probe waits for an agent; everything else is answered by the hub itself.
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
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			extend(w, requestTimeout+time.Minute)
			select {
			case <-r.Context().Done():
				t.Error("the client counts as gone")
			case <-time.After(400 * time.Millisecond): // twice the server's timeouts
			}
			if _, err := w.Write([]byte("done")); err != nil {
				t.Error(err)
			}
		}))
		s.EnableHTTP2 = h2
		s.Config.ReadTimeout, s.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond
		s.StartTLS()
		defer s.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if string(text) != "done" || err != nil {
			t.Errorf("answered %q, %v", text, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		s.Client().CloseIdleConnections()
	}
}
