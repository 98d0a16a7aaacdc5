package api

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"rackboot/protocol"
)

// Config says where the hub is and who calls.
type Config struct {
	BaseURL string // https://host[:port]
	CA      []byte // PEM certificates that sign the hub's; empty: the system's
	Token   string // empty for Join, and with a certificate
	// Certificate and Key are PEM of a client certificate.
	Certificate, Key []byte
	// Fingerprint names the certificate of the authority that signs the hub's, in place
	// of CA; see [Fingerprint]. The hub shows it beside its own.
	Fingerprint string
	// Time is the time that certificates are judged at; nil is the clock's.
	Time func() time.Time
	// HTTPClient replaces the client that is made from CA; for tests.
	HTTPClient *http.Client
}

// Client calls a hub. Each call has a deadline, that of its context or 30 s.
// A GET is repeated while the hub is unavailable, and any call that the hub has refused
// because too many came at once. Errors are
// *protocol.Error with the hub's code and hint; see [Problem.Err]. Each noun of the API
// is a field. All methods, and those of the fields, are safe for concurrent use.
type Client struct {
	AgentPackages AgentPackages
	Agents        Agents
	Approvals     Approvals
	Audit         Audit
	Backups       Backups
	BMCs          BMCs
	Environments  Environments
	Groups        Groups
	Holds         Holds
	Hubs          Hubs
	ISOs          ISOs
	Maintenances  Maintenances
	Objects       Objects
	Bulks         Bulks
	Requests      Requests
	Rollouts      Rollouts
	Servers       Servers
	Uploads       Uploads
	Webhooks      Webhooks

	hub *hub
}

// NewClient makes a client; invalid if the URL is not https (http is allowed on
// loopback) or the CA cannot be read.
func NewClient(cfg Config) (*Client, error) {
	const op = "connect to hub"
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's URL is not https://host[:port]").
			WithHint("rackctl login https://hub.example:8443")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the hub's URL %s is not https", u.Redacted()).
			WithHint("a token must not travel in the clear; use https://%s", u.Host)
	}
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the token is not one word of visible ASCII").
			WithHint("check the token file")
	}
	client := cfg.HTTPClient
	if client == nil {
		transport := &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns:        4, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS13, Time: cfg.Time},
		}
		if len(cfg.Certificate) > 0 {
			pair, err := tls.X509KeyPair(cfg.Certificate, cfg.Key)
			if err != nil { // whose text has nothing of the key
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "the client certificate and its key: %w", err).
					WithHint("give both in PEM, the key of this very certificate")
			}
			transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
		}
		if cfg.Fingerprint != "" {
			pin(transport.TLSClientConfig, cfg.Fingerprint, u.Hostname())
		}
		if len(cfg.CA) > 0 {
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(cfg.CA) {
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CA has no PEM certificate").
					WithHint("give the file ca.pem that the hub wrote")
			}
			transport.TLSClientConfig.RootCAs = pool
		}
		client = &http.Client{Transport: transport}
	}
	// A redirect would carry the token elsewhere; the hub sends none.
	bare := *client
	bare.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h := &hub{base: u.Scheme + "://" + u.Host, token: cfg.Token, http: &bare}
	return &Client{
		AgentPackages: AgentPackages{h}, Agents: Agents{h}, Approvals: Approvals{h}, Audit: Audit{h}, Backups: Backups{h}, BMCs: BMCs{h}, Environments: Environments{h},
		Groups: Groups{h}, Holds: Holds{h}, Hubs: Hubs{h}, ISOs: ISOs{h}, Maintenances: Maintenances{h}, Objects: Objects{h},
		Bulks: Bulks{h}, Requests: Requests{h}, Rollouts: Rollouts{h}, Servers: Servers{h}, Uploads: Uploads{h}, Webhooks: Webhooks{h}, hub: h,
	}, nil
}

// CloseIdle closes connections that no call uses.
func (c *Client) CloseIdle() { c.hub.http.CloseIdleConnections() }

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}
