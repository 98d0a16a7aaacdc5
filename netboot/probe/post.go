package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"rackboot/netboot/probe/initramfs"
	"rackboot/protocol"
)

const (
	postTimeout = 10 * time.Second // of one try
	firstPause  = time.Second      // between tries; doubled each time
	maxPause    = 30 * time.Second
	maxAnswer   = 1 << 10
)

// poster posts reports.
type poster struct {
	client *http.Client
	log    *slog.Logger
}

// newPoster trusts the authority, which is a file's path, or a certificate in base64;
// empty is the authority in the initramfs, where there is one, else the system's.
func newPoster(authority string, log *slog.Logger) (*poster, error) {
	const op = "read authority"
	tr := &http.Transport{Proxy: nil, DisableKeepAlives: true} // the agent is on the segment
	p := &poster{client: &http.Client{
		Timeout: postTimeout, Transport: tr,
		// The token is not carried anywhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, log: log}
	pool := x509.NewCertPool()
	switch {
	case authority == "":
		pem, err := os.ReadFile("/" + initramfs.Authority)
		if errors.Is(err, fs.ErrNotExist) {
			return p, nil
		}
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "no certificate in /%s", initramfs.Authority)
		}
	case strings.HasPrefix(authority, "/") || strings.HasPrefix(authority, "."):
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "no certificate in %s", authority).WithHint("it must be PEM")
		}
	default:
		der, err := base64.StdEncoding.DecodeString(authority)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "neither a path nor base64").WithHint("a path begins with / or .")
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
		}
		pool.AddCert(cert)
	}
	tr.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return p, nil
}

// post posts the report until somebody has taken or refused it, or ctx ends.
func (p *poster) post(ctx context.Context, url string, r protocol.ProbeReport) error {
	const op = "report"
	body, err := json.Marshal(r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		final, err := p.once(ctx, url, body)
		if err == nil {
			return nil
		}
		if final {
			return err
		}
		p.log.Warn("report not taken", "err", err)
		select {
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeTimeout, op, "nobody took it in time: %w", err).WithHint("see whether the agent runs, and whether the server reaches the segment's base URL")
		case <-time.After(pause):
		}
	}
}

// once posts once. final says that another try would end as this one.
func (p *poster) once(ctx context.Context, url string, body []byte) (final bool, err error) {
	const op = "report"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return true, protocol.Errorf(protocol.CodeInvalid, op, "the URL cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return false, protocol.Errorf(protocol.CodeUnavailable, op, "%w", withoutURL(err))
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch resp.StatusCode {
	case http.StatusNoContent, http.StatusOK:
		return false, nil
	case http.StatusNotFound:
		return true, protocol.Errorf(protocol.CodeNotFound, op, "the boot that the URL is of is not open any more, or never was")
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusMethodNotAllowed:
		return true, protocol.Errorf(protocol.CodeInvalid, op, "the agent answers %s: %s", resp.Status, protocol.CleanHostText(string(said)))
	}
	return false, protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), op, "the agent answers %s", resp.Status)
}
