package httpboot

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"rackboot/netboot"
	"rackboot/protocol"
)

// stepEcho takes steps, and answers by what they say.
type stepEcho struct{}

func (stepEcho) Enrol(tok string, step netboot.EnrolStep, body []byte) ([]byte, string, error) {
	switch {
	case tok != token:
		return nil, "", protocol.Errorf(protocol.CodeNotFound, "enrol", "unknown token")
	case string(body) == "wrong":
		return nil, "", protocol.Errorf(protocol.CodeInvalid, "enrol", "no JSON")
	case string(body) == "early":
		return nil, "", protocol.Errorf(protocol.CodeUnavailable, "enrol", "too soon")
	case string(body) == "other":
		return nil, "other-tpm", nil
	case step == netboot.EnrolAnswer:
		return nil, "", nil
	}
	return []byte(`{"blob":"AA=="}`), "", nil
}

func (stepEcho) Attest(tok string, step netboot.AttestStep, body []byte) ([]byte, string, error) {
	if step == netboot.AttestAsk {
		return []byte(`{"nonce":"AA=="}`), "", nil
	}
	answer, refused, err := stepEcho{}.Enrol(tok, netboot.EnrolAnswer, body)
	return answer, refused, err
}

func TestEnrol(t *testing.T) {
	for _, with := range []bool{true, false} {
		w := start(t, func(c *Config) {
			if with {
				c.Enrolment, c.Attestation = stepEcho{}, stepEcho{}
			}
		})
		client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
		for _, row := range []struct {
			method, path, body string
			status             int
			answer             string
		}{
			{"POST", "/b/" + token + "/enrol/offer", "{}", 200, `{"blob":"AA=="}`},
			{"POST", "/b/" + token + "/enrol/answer", "{}", 204, ""},
			{"POST", "/b/" + token + "/enrol/offer", "other", 403, `{"refused":"other-tpm"}`},
			{"POST", "/b/" + token + "/enrol/offer", "wrong", 400, ""},
			{"POST", "/b/" + token + "/enrol/offer", "early", 503, ""},
			{"POST", "/b/guessed/enrol/offer", "{}", 404, ""},
			{"POST", "/b/" + token + "/enrol/offer", strings.Repeat(" ", netboot.MaxEnrol+1), 413, ""},
			{"POST", "/b/" + token + "/enrol/other", "{}", 405, ""},
			{"POST", "/enrol/offer", "{}", 405, ""},
			{"POST", "/b/" + token + "/attest/ask", "", 200, `{"nonce":"AA=="}`},
			{"POST", "/b/" + token + "/attest/prove", "{}", 204, ""},
			{"POST", "/b/" + token + "/attest/prove", "other", 403, `{"refused":"other-tpm"}`},
			{"POST", "/b/guessed/attest/prove", "{}", 404, ""},
			{"POST", "/b/" + token + "/attest/prove", strings.Repeat(" ", netboot.MaxAttest+1), 413, ""},
			{"POST", "/b/" + token + "/attest/other", "{}", 405, ""},
			{"POST", "/attest/ask", "", 405, ""},
			{"GET", "/b/" + token + "/enrol/offer", "", 404, ""}, // a file's name
		} {
			req, err := http.NewRequestWithContext(t.Context(), row.method, w.base+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				t.Fatal(err)
			}
			status := row.status
			if !with && row.method == "POST" {
				status = http.StatusMethodNotAllowed
			}
			if resp.StatusCode != status || with && row.answer != "" && string(body) != row.answer {
				t.Errorf("%v %s %s: %d %s, want %d", with, row.method, row.path, resp.StatusCode, body, status)
			}
		}
		w.stop()
	}
}
