package redfish

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"rackboot/bmc"
)

// TestBasicHeader: the header is net/http's, which the tests of others know.
func TestBasicHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := bmc.Credentials{Username: rapid.String().Draw(t, "user"), Password: rapid.String().Draw(t, "password")}
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(c.Username, c.Password)
		if got, want := basicHeader(c), r.Header.Get("Authorization"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
