package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"rackboot/protocol"
)

const (
	defaultDialTimeout   = 5 * time.Second
	defaultHeaderTimeout = 15 * time.Second
	defaultIdleTimeout   = 30 * time.Second
	userAgent            = "rackboot"
)

// Options say how registries are reached. The zero value is HTTPS with the
// system's CAs and the default timeouts.
type Options struct {
	// Mirrors maps a registry's host[:port], as references name it, to the
	// host[:port] that is asked in its place. Digests make that safe.
	Mirrors map[string]string
	// PlainHTTP are the hosts (host[:port] as asked, after Mirrors) that may be
	// spoken to without TLS. Loopback addresses may always.
	PlainHTTP []string
	// CA is PEM of certificates that are trusted besides the system's.
	CA []byte
	// Certificate is shown to a registry that asks for one of an authority which signed it;
	// nil is none.
	Certificate *tls.Certificate
	// Allow are the registries whose images may be used: host[:port], or that with the
	// beginning of a path; empty is all.
	Allow []string
	// Accounts are those of registries; nil is none.
	Accounts Accounts
	// Pulled is told how many bytes of blobs came, and from where; nil is nobody.
	Pulled func(from Source, bytes int64)

	DialTimeout   time.Duration // to connect, and again for TLS; 5 s if zero
	HeaderTimeout time.Duration // from request to answer; 15 s if zero
	IdleTimeout   time.Duration // without a byte of a body; 30 s if zero
}

// Source is where a blob came from.
type Source string

// The sources.
const (
	SourceOrigin Source = "origin" // the registry that the reference names
	SourceMirror Source = "mirror" // the one that Mirrors has for it
)

// Sources lists the sources.
func Sources() []Source { return []Source{SourceOrigin, SourceMirror} }

// registry is a client of one repository.
type registry struct {
	host      string // as asked
	source    Source
	account   Account
	guarded   *guard
	repo      name.Repository
	puller    *remote.Puller
	transport *http.Transport
}

func (r *registry) close() { r.transport.CloseIdleConnections() }

// open makes the client for the reference's repository, or its mirror's. A mirror that
// fails is not passed by: a rack with mirrors may have no way to the origin, and the
// error says what was asked.
func (o Options) open(ctx context.Context, op string, ref name.Reference) (*registry, error) {
	if err := o.allowed(op, ref); err != nil {
		return nil, err
	}
	host, source := ref.Context().RegistryStr(), SourceOrigin
	for name, mirror := range o.Mirrors {
		if hub(name) == host {
			host, source = mirror, SourceMirror
			break
		}
	}
	var nameOpts []name.Option
	if o.plainAllowed(host) {
		nameOpts = append(nameOpts, name.Insecure)
	}
	repo, err := name.NewRepository(host+"/"+ref.Context().RepositoryStr(), nameOpts...)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "mirror %q of %s: %w", host, ref.Context().RegistryStr(), err).
			WithHint("write the mirror as host or host:port")
	}
	var account Account
	if o.Accounts != nil {
		if account, err = o.Accounts(ctx, written(repo.RegistryStr())); err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), op, "account of registry %s: %w", host, err)
		}
	}
	roots, err := o.roots(op)
	if err != nil {
		return nil, err
	}
	dial := orDefault(o.DialTimeout, defaultDialTimeout)
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dial}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, GetClientCertificate: o.certificate},
		TLSHandshakeTimeout:   dial,
		ResponseHeaderTimeout: orDefault(o.HeaderTimeout, defaultHeaderTimeout),
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // digests are of the bytes as stored
	}
	g := &guard{next: t, host: repo.RegistryStr(), account: account, plainAllowed: o.plainAllowed, idle: orDefault(o.IdleTimeout, defaultIdleTimeout)}
	puller, err := remote.NewPuller(
		remote.WithAuth(account.authenticator()),
		remote.WithUserAgent(userAgent),
		remote.WithTransport(g),
		remote.WithRetryBackoff(remote.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 3}),
	)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "registry client: %w", err)
	}
	return &registry{host: repo.RegistryStr(), source: source, account: account, guarded: g, repo: repo, puller: puller, transport: t}, nil
}

// certificate answers a registry that asks for one. Those that name no authority get none:
// it says who one is.
func (o Options) certificate(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if o.Certificate == nil || len(asked.AcceptableCAs) == 0 || asked.SupportsCertificate(o.Certificate) != nil {
		return &tls.Certificate{}, nil
	}
	return o.Certificate, nil
}

func (o Options) roots(op string) (*x509.CertPool, error) {
	if len(o.CA) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(o.CA) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the registry CA holds no certificate").
			WithHint("give it as PEM, beginning with -----BEGIN CERTIFICATE-----")
	}
	return roots, nil
}

// plainAllowed says whether the host may be spoken to without TLS.
func (o Options) plainAllowed(host string) bool {
	return slices.Contains(o.PlainHTTP, host) || loopback(host)
}

func loopback(host string) bool {
	h, _, err := net.SplitHostPort(host)
	if err != nil {
		h = host
	}
	ip := net.ParseIP(h)
	return ip != nil && ip.IsLoopback()
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
