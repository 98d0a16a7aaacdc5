package redfish_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
)

// raw does a request as somebody else would, past the driver.
func raw(t *testing.T, r *rig, method, uri, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.bmc.Address()+uri, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(username, password)
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s %v", method, uri, resp.Status, answer, err)
	}
	return answer
}

func getRaw(t *testing.T, r *rig, uri string) []byte {
	t.Helper()
	return raw(t, r, http.MethodGet, uri, "")
}

func patchRaw(t *testing.T, r *rig, uri, body string) {
	t.Helper()
	raw(t, r, http.MethodPatch, uri, body)
}
