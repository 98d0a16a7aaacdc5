package login

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol"
)

const (
	// apiPort is the port of a hub's API where its file says no other.
	apiPort = "8443"
	// portLook bounds one look at what listens at a port.
	portLook = 10 * time.Second
)

// speaks is what answers at a port.
type speaks string

// What answers.
const (
	speaksNothing speaks = "nothing" // nobody listens, or nobody answers
	speaksTLS     speaks = "TLS"
	speaksOther   speaks = "other" // it listens, and speaks no TLS
)

// wrongPort says of a URL that cannot be a hub's why not: http in place of https, a port where nobody
// listens, or one where something else does. What is judged otherwise, such as a name that is not
// known, is left to who asks next.
func wrongPort(ctx context.Context, u *url.URL) error {
	const op = "log in"
	if u.Host == "" || proxied(u) {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[u.Scheme]
	}
	if port == "" {
		port = "443"
	}
	at := net.JoinHostPort(u.Hostname(), port)
	found, err := lookAt(ctx, at)
	switch {
	case u.Scheme == "http" && found == speaksTLS:
		return protocol.Errorf(protocol.CodeInvalid, op, "%s speaks https, and the URL says http", u.Host).WithHint("rackctl login https://%s", u.Host)
	case u.Scheme == "https" && found == speaksOther:
		return protocol.Errorf(protocol.CodeInvalid, op, "what listens at %s speaks no TLS, so it is not the API of a hub: %w", at, err).
			WithHint("the port is that of api in the hub's file, mostly %s: rackctl login https://%s", apiPort, net.JoinHostPort(u.Hostname(), apiPort))
	case u.Scheme == "https" && found == speaksNothing && port != apiPort:
		return protocol.Errorf(protocol.CodeUnavailable, op, "nobody listens at %s: %w", at, err).
			WithHint("the port is that of api in the hub's file, mostly %s: rackctl login https://%s", apiPort, net.JoinHostPort(u.Hostname(), apiPort))
	}
	return nil
}

// proxied says whether the URL is asked through a proxy, which alone knows what listens there.
func proxied(u *url.URL) bool {
	via, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	return err != nil || via != nil
}

// lookAt finds out what answers at an address. Nothing is sent but the beginning of TLS.
func lookAt(ctx context.Context, at string) (speaks, error) {
	ctx, cancel := context.WithTimeout(ctx, portLook)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return speaksNothing, err
	}
	defer conn.Close()
	// Whose certificate it is judges who asks next.
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	err = c.HandshakeContext(ctx)
	var header tls.RecordHeaderError
	switch {
	case err == nil:
		return speaksTLS, nil
	case errors.As(err, &header), errors.Is(err, http.ErrSchemeMismatch):
		return speaksOther, err
	case ctx.Err() != nil: // it waits to be spoken to in another way
		return speaksOther, err
	}
	return speaksTLS, err // an alert, which is TLS
}
