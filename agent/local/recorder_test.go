package local

import (
	"net/http"
	"testing"
)

// recorder keeps the status of an answer.
type recorder struct{ status int }

func (r *recorder) Header() http.Header         { return http.Header{} }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *recorder) WriteHeader(status int)      { r.status = status }

func mustRequest(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/status", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
