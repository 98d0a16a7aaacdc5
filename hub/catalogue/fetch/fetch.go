package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/iso"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 30 * time.Second
	// stall is how long nothing of a file may come.
	stall = time.Minute
	// maxSignature bounds a detached signature, in bytes: one of OpenPGP has some hundred.
	maxSignature = 64 << 10
	// maxRedirects is what net/http takes by itself.
	maxRedirects = 10
	userAgent    = "rackboot"
)

// Config is what a Fetcher needs. Shelf, Clock and Registerer are required.
type Config struct {
	Shelf *iso.Shelf
	// CA is PEM of authorities that are trusted besides the system's. Proxies are those of
	// the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
	CA         []byte
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Fetcher fetches files and verifies them. Its methods are safe for concurrent use.
type Fetcher struct {
	cfg     Config
	client  *http.Client
	metrics *metrics

	mu   sync.Mutex
	seen map[string]version // by URL, bounded by maxSeen
}

// version is what a server called the content of a URL the last time.
type version struct {
	validator string // of If-Range; empty for none
	refused   error  // why that version is not the file; nil while that is not known
	etag      string // of If-None-Match, with refused
	digest    string // that refused was judged by
}

// maxSeen bounds what is kept of URLs; it is a matter of traffic only.
const maxSeen = 1000

// New makes a Fetcher. The code is invalid (CA) or internal.
func New(cfg Config) (*Fetcher, error) {
	const op = "open fetcher of boot images"
	if cfg.Shelf == nil || cfg.Clock == nil || cfg.Registerer == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Shelf, Clock and Registerer are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if len(cfg.CA) > 0 && !roots.AppendCertsFromPEM(cfg.CA) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CAs have no certificate in PEM").WithHint("check catalogue.caFile of the hub's file")
	}
	f := &Fetcher{cfg: cfg, seen: map[string]version{}, metrics: newMetrics(cfg.Registerer)}
	f.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: dialTimeout,
			ResponseHeaderTimeout: headerTimeout, DisableCompression: true, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects || req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	return f, nil
}

// Fetch brings a file and verifies it. One that is there is verified again, without being
// fetched. Repeating it after an error goes on where it was. The codes are invalid (another
// sum, a signature of other content, not compressed), denied (by the server; a key that is
// not known; no signature where the hub wants one), unsupported (no keys; a server that
// does not say sizes), not_found, conflict, unavailable (no room, the server), timeout and
// internal.
func (f *Fetcher) Fetch(ctx context.Context, file resource.BootImageFile) (resource.BootImageVerified, error) {
	v, err := f.fetch(ctx, file)
	f.metrics.fetches.WithLabelValues(resultOf(err)).Inc()
	return v, err
}

func (f *Fetcher) fetch(ctx context.Context, file resource.BootImageFile) (v resource.BootImageVerified, err error) {
	shelf, digest := f.cfg.Shelf, "sha256:"+file.SHA256
	var scheme resource.SignatureScheme
	if file.Signature != nil {
		scheme = file.Signature.Scheme
	}
	if err := shelf.Judges(scheme); err != nil { // before anything is asked for
		return v, err
	}
	if !shelf.Has(digest) {
		if err := f.download(ctx, file.URL, digest); err != nil {
			return v, err
		}
		f.cfg.Crash.At("hub.catalogue.fetched")
	}
	if file.Signature != nil {
		raw, err := f.small(ctx, file.Signature.URL)
		if err != nil {
			return v, err
		}
		if v.Signature, err = shelf.CheckSignature(ctx, digest, scheme, raw); err != nil {
			return v, err
		}
	}
	v.Digest = digest
	if u := file.UncompressedSHA256; u != "" && u != file.SHA256 {
		v.Digest = "sha256:" + u
		if v.Size, err = shelf.Unpack(ctx, digest, v.Digest); err != nil {
			return v, err
		}
		f.cfg.Crash.At("hub.catalogue.unpacked")
	} else {
		content, size, err := shelf.OpenContent(digest)
		if err != nil {
			return v, err
		}
		_, v.Size = content.Close(), size // nothing was written to it
	}
	v.At = f.cfg.Clock().UTC()
	f.cfg.Logger.Info("file of a boot image is verified", "kind", file.Kind, "digest", v.Digest, "size", v.Size, "signed", v.Signature != nil)
	return v, nil
}

// small reads a signature.
func (f *Fetcher) small(ctx context.Context, from string) ([]byte, error) {
	const op = "fetch signature"
	ctx, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	resp, err := f.ask(ctx, op, from, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusedBy(op, from, resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxSignature+1))
	switch {
	case err != nil:
		return nil, failed(op, from, err)
	case len(raw) > maxSignature:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has more than %d bytes", bare(from), maxSignature).WithHint("it is no detached signature; correct the entry")
	}
	return raw, nil
}
