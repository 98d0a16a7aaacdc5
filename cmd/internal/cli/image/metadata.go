package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"rackboot/cmd/internal/cli/fetch"
	"rackboot/cmd/internal/cli/files"
	"rackboot/hub/catalogue"
	"rackboot/protocol"
)

// metadataTimeout bounds how long metadata may take to come: it has some hundred KiB.
const metadataTimeout = time.Minute

// metadata reads a document from a file, a URL or standard input, and says where it came
// from, without what may be a credential; empty unless that is a URL. ca is a file, empty
// for the system's CAs alone.
func metadata(ctx context.Context, src *files.Input, from, ca string) (raw []byte, where string, err error) {
	const op = "read metadata"
	var r io.Reader
	switch u, urlErr := url.Parse(from); {
	case from == "-":
		r = src.Stdin
	case urlErr == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
		defer cancel()
		body, err := getMetadata(ctx, u, ca)
		if err != nil {
			return nil, "", err
		}
		defer body.Close()
		r, where = body, fetch.BareURL(u)
	default:
		f, err := os.Open(from)
		if err != nil {
			return nil, "", protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("give a file, a URL or - for standard input")
		}
		defer f.Close()
		r = f
	}
	raw, err = io.ReadAll(io.LimitReader(r, catalogue.MaxMetadata+1))
	switch {
	case err != nil:
		return nil, "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	case len(raw) > catalogue.MaxMetadata:
		return nil, "", protocol.Errorf(protocol.CodeInvalid, op, "it has more than %d bytes", catalogue.MaxMetadata).WithHint("is it the right one?")
	}
	return raw, where, nil
}

// getMetadata asks for a URL, by the proxies of the environment.
func getMetadata(ctx context.Context, from *url.URL, ca string) (io.ReadCloser, error) {
	const op = "read metadata"
	t := http.DefaultTransport.(*http.Transport).Clone()
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("name a PEM file with --ca")
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has no certificate", ca).WithHint("name a PEM file with --ca")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	t.DisableKeepAlives = true
	client := fetch.Client()
	client.Transport = t
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), http.NoBody)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is no URL", fetch.BareURL(from))
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fetch.Failed(from, err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // nothing of it is read
		code := protocol.CodeFromHTTP(resp.StatusCode)
		return nil, protocol.Errorf(code, op, "%s answered %s", fetch.BareURL(from), resp.Status).WithHint("check the URL")
	}
	return resp.Body, nil
}
