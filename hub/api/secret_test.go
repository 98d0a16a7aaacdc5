package api_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const canary = "canary-9f1c"

// TestSecretsAreWriteOnly: whatever is asked of a Secret, and however wrong a request
// that has one is, no answer has a value.
func TestSecretsAreWriteOnly(t *testing.T) {
	hub := apitest.New(t)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}}
	defer client.CloseIdleConnections()
	value := base64.StdEncoding.EncodeToString([]byte(canary))
	secret := func(data string) string {
		return `{"apiVersion":"rackboot/v1","kind":"Secret","metadata":{"name":"s"},"spec":{"type":"generic","data":` + data + `}}`
	}
	good := secret(`{"a":"` + value + `"}`)
	path := protoapi.PathObject(resource.KindSecret, "s")
	for _, row := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"not there yet", "GET", path, "", 404},
		{"written", "PUT", path, good, 200},
		{"again", "PUT", path, good, 200},
		{"applied", "POST", protoapi.PathApply, `{"objects":[` + good + `]}`, 200},
		{"dry run", "POST", protoapi.PathApply, `{"dryRun":true,"objects":[` + good + `]}`, 200},
		{"read", "GET", path, "", 200},
		{"listed", "GET", protoapi.PathKind(resource.KindSecret), "", 200},
		{"rotated", "POST", protoapi.PathRekey, "", 200},
		{"not base64", "PUT", path, secret(`{"a":"` + canary + `?"}`), 400},
		{"a number", "PUT", path, secret(`{"a":90219021}`), 400},
		{"a list", "PUT", path, secret(`["` + canary + `"]`), 400},
		{"no JSON", "PUT", path, secret(`{"a":"` + value), 400},
		{"another kind", "PUT", protoapi.PathObject(resource.KindRack, "s"), good, 400},
		{"another name", "PUT", protoapi.PathObject(resource.KindSecret, "other"), good, 400},
		{"another type", "PUT", path, strings.Replace(good, "generic", "bmc-credentials", 1), 400},
		{"an unknown field", "PUT", path, strings.Replace(good, `"type"`, `"value":"`+canary+`","type"`, 1), 400},
		{"with a status", "PUT", path, strings.Replace(good, `"spec"`, `"status":{"version":9},"spec"`, 1), 200},
		{"two in one", "POST", protoapi.PathApply, `{"objects":[` + good + `,` + good + `]}`, 400},
		{"deleted", "DELETE", path, "", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), row.method, hub.URL+row.path, strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+apitest.Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if err != nil || resp.StatusCode != row.status {
			t.Errorf("%s: %s, %v, %s", row.name, resp.Status, err, answer)
		}
		for _, word := range []string{canary, value[:10], "90219021", fmt.Sprintf("%x", canary)} {
			if bytes.Contains(answer, []byte(word)) {
				t.Errorf("%s: the answer has %s", row.name, word)
			}
		}
	}
	if _, err := hub.Client(t).RotateSecretKey(t.Context()); err != nil {
		t.Error(err)
	}
}
