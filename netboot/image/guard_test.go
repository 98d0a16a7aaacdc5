package image

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"rackboot/protocol"
)

// asked answers everything and remembers who was asked.
type asked []string

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	*a = append(*a, r.URL.Host)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// TestSentToInnerAddresses: a registry that sends its clients elsewhere, by a redirect or
// as the place where tokens are given out, cannot have them ask their own host or link.
func TestSentToInnerAddresses(t *testing.T) {
	for _, row := range []struct {
		registry, url string
		refused       bool
	}{
		{"registry.example", "https://registry.example/v2/", false},
		{"registry.example", "https://cdn.example/blob", false},
		{"registry.example", "https://10.0.0.5/blob", false}, // a rack's mirror may be there
		{"registry.example", "http://10.0.0.5/blob", true},
		{"registry.example", "https://127.0.0.1:9641/metrics", true},
		{"registry.example", "http://127.0.0.1:9641/metrics", true},
		{"registry.example", "https://[::1]/", true},
		{"registry.example", "https://[::ffff:127.0.0.1]/", true},
		{"registry.example", "https://localhost:8443/", true},
		{"registry.example", "https://a.localhost/", true},
		{"registry.example", "https://0.0.0.0/", true},
		{"registry.example", "https://169.254.169.254/latest/meta-data/", true},
		{"registry.example", "https://[fe80::1]/", true},
		{"127.0.0.1:5000", "http://127.0.0.1:5000/v2/", false},
		{"127.0.0.1:5000", "http://127.0.0.1:5001/token", false},
		{"[::1]:5000", "http://[::1]:5001/token", false},
	} {
		var who asked
		g := &guard{next: &who, host: row.registry, plainAllowed: Options{}.plainAllowed, idle: time.Minute}
		resp, err := g.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, row.url, http.NoBody))
		if err == nil {
			resp.Body.Close()
		}
		if (err != nil) != row.refused || (len(who) == 0) != row.refused {
			t.Errorf("%s sends to %s: %v, asked %v", row.registry, row.url, err, who)
		}
		if err != nil && (protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v without a hint", row.url, err)
		}
	}
}
