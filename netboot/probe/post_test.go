package probe

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// answers answers with one status after the other; 0 is a connection that breaks.
type answers struct {
	status []int
	bodies []string
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a.bodies = append(a.bodies, string(body))
	status := a.status[min(len(a.bodies), len(a.status))-1]
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader("why")), Header: http.Header{}}, nil
}

func TestPost(t *testing.T) {
	for _, row := range []struct {
		name   string
		status []int
		code   protocol.Code
		after  time.Duration
		tries  int
	}{
		{"at once", []int{204}, "", 0, 1},
		{"the agent restarts", []int{0, 503, 500, 204}, "", 7 * time.Second, 4},
		{"a token that is over", []int{503, 404}, protocol.CodeNotFound, time.Second, 2},
		{"refused", []int{400}, protocol.CodeInvalid, 0, 1},
		{"too large", []int{413}, protocol.CodeInvalid, 0, 1},
		{"a redirect is not followed", []int{302, 204}, "", time.Second, 2},
		{"never", []int{0}, protocol.CodeTimeout, 2 * time.Minute, 8}, // 1, 2, 4, 8, 16, 30, 30 s
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				p, err := newPoster("", slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				a := &answers{status: row.status}
				p.client.Transport = a
				began := time.Now()
				err = p.post(ctx, "http://10.7.0.1/b/s3cret/report/failed", protocol.ProbeReport{State: protocol.ProbeFailed, Message: "m"})
				if (err != nil || row.code != "") && protocol.CodeOf(err) != row.code {
					t.Errorf("error %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the token is in %v", err)
				}
				if time.Since(began) != row.after || len(a.bodies) != row.tries {
					t.Errorf("%d tries in %s", len(a.bodies), time.Since(began))
				}
				for _, b := range a.bodies {
					if _, err := protocol.DecodeProbeReport([]byte(b), protocol.ProbeFailed); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestPostHTTPS(t *testing.T) {
	taken := 0
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "application/json" {
			taken++
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	der := s.Certificate().Raw
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for name, authority := range map[string]string{"a file": file, "base64": base64.StdEncoding.EncodeToString(der)} {
		p, err := newPoster(authority, log)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.post(t.Context(), s.URL, protocol.ProbeReport{State: protocol.ProbeBooted}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := newPoster("", log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.once(t.Context(), s.URL, []byte("{}")); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("another authority: %v", err)
	}
	if taken != 2 {
		t.Errorf("%d reports", taken)
	}
	for _, wrong := range []string{"/none.pem", "no base64!", base64.StdEncoding.EncodeToString([]byte("x"))} {
		if _, err := newPoster(wrong, log); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("authority %q: %v", wrong, err)
		}
	}
}
