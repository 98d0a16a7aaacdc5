package image

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"rackboot/protocol"
)

// failed is failed without the account's secrets.
func (r *registry) failed(op, what string, err error) error {
	return r.account.quieten(failed(op, r.host, what, err), r.guarded.proofs())
}

// failed gives an error of the registry library its code. What is neither an
// answer of the registry nor of the network is wrong content: a digest that does
// not match or bytes that are no manifest.
func failed(op, host, what string, err error) *protocol.Error {
	var (
		ours   *protocol.Error
		answer *transport.Error
		netErr net.Error
		urlErr *url.Error
		ca     x509.UnknownAuthorityError
	)
	switch { // an error of HTTPS and one of the fallback to HTTP may come together
	case errors.As(err, &ca):
		return protocol.Errorf(protocol.CodeUnavailable, op, "registry %s has a certificate of an unknown CA: %w", host, err).
			WithHint("give the CA of %s as the registry CA", host)
	case errors.As(err, &ours):
		return protocol.Errorf(ours.Code, op, "%s: %w", what, err)
	case errors.Is(err, context.Canceled):
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", what, err)
	case errors.As(err, &answer):
		return answered(op, host, what, answer)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return protocol.Errorf(protocol.CodeTimeout, op, "registry %s did not answer: %w", host, err).
			WithHint("check that %s is up and reachable from here, or map it to a mirror", host)
	case errors.As(err, &netErr), errors.As(err, &urlErr):
		return protocol.Errorf(protocol.CodeUnavailable, op, "registry %s cannot be reached: %w", host, err).
			WithHint("check that %s is up and reachable from here, or map it to a mirror", host)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", what, err).
		WithHint("registry %s serves wrong content; push the image again, or use another mirror", host)
}

// answered is for an HTTP status that is not success.
func answered(op, host, what string, err *transport.Error) *protocol.Error {
	switch err.StatusCode {
	case http.StatusNotFound:
		return protocol.Errorf(protocol.CodeNotFound, op, "%s does not exist: %w", what, err).
			WithHint("check repository and tag; registry %s was asked", host)
	case http.StatusUnauthorized, http.StatusForbidden:
		return protocol.Errorf(protocol.CodeDenied, op, "registry %s denies %s: %w", host, what, err).
			WithHint("give an account of %s that may read it (docs/guide/registries.md), make the repository readable without login, or map the registry to a mirror that is", host)
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "registry %s answered %d for %s: %w", host, err.StatusCode, what, err).
		WithHint("look at the log of %s; try again later", host)
}
