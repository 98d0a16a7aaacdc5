package api

import (
	"net/http"
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
