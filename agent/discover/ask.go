package discover

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"rackboot/bmc/oldtls"
	"rackboot/protocol/resource"
)

const (
	port = "443"
	// askFor bounds one connection, from its beginning to its last byte.
	askFor = 5 * time.Second
	// maxBody is the largest service root that is read, in bytes; the largest of the
	// known ones has 8 KiB. Headers may have as much.
	maxBody = 64 << 10
)

// paths are those of the service root: DSP0266 fixes the first, and some firmware
// knows only the other.
func paths() []string { return []string{"/redfish/v1/", "/redfish/v1"} }

// result says what became of a question.
type result string

const (
	resultRoot        result = "root"        // a service root
	resultOutside     result = "outside"     // not asked: the address is not the segment's
	resultTimeout     result = "timeout"     // nothing, or not in time
	resultUnreachable result = "unreachable" // nobody there, or nothing on the port
	resultTLS         result = "tls"         // no handshake
	resultHTTP        result = "http"        // something else than HTTP, or cut off
	resultStatus      result = "status"      // another status than 200
	resultLarge       result = "large"       // more than maxBody
	resultOther       result = "other"       // not a service root
)

var results = []result{
	resultRoot, resultOutside, resultTimeout, resultUnreachable, resultTLS, resultHTTP, resultStatus, resultLarge, resultOther,
}

// answer is what an address answered.
type answer struct {
	addr        netip.Addr
	asked       time.Time
	result      result
	problem     string // for people; nothing in it was written by who answered
	fingerprint string // empty if it did not come to a certificate
	root        root
	status      int
}

func (a answer) failed(r result, format string, args ...any) answer {
	a.result, a.problem = r, fmt.Sprintf(format, args...)
	return a
}

// ask reads the service root at an address of a segment, as soon as the rate allows.
// ok is false if ctx ended: then nothing is known.
func (f *Finder) ask(ctx context.Context, seg resource.SegmentIntent, addr netip.Addr) (a answer, ok bool) {
	question := answer{addr: addr, asked: f.cfg.Clock()}
	a = question
	if !askable(seg, addr) {
		return a.failed(resultOutside, "the address is not of a host inside %s", seg.Prefix), true
	}
	for _, path := range paths() {
		if err := f.limit.Wait(ctx); err != nil {
			return a, false
		}
		a = f.get(ctx, seg.Name, question, path)
		if a.result != resultStatus || a.status != http.StatusNotFound && a.status/100 != 3 {
			break
		}
	}
	return a, ctx.Err() == nil
}

// get asks for one path, over a connection of its own.
func (f *Finder) get(ctx context.Context, segment string, a answer, path string) answer {
	ctx, cancel := context.WithTimeout(ctx, f.askFor)
	defer cancel()
	dial := f.cfg.Dial
	if dial == nil {
		dial = dialer(f.cfg.Interfaces[segment]).DialContext
	}
	raw, err := dial(ctx, "tcp", net.JoinHostPort(a.addr.String(), port))
	if err != nil {
		f.log.Debug("no connection to a possible BMC", "segment", segment, "address", a.addr.String(), "err", err)
	}
	switch {
	case ctx.Err() != nil || timeout(err):
		if err == nil {
			_ = raw.Close()
		}
		return a.failed(resultTimeout, "no connection within %s", f.askFor)
	case err != nil:
		return a.failed(resultUnreachable, "no connection to port %s", port)
	}
	defer func() { _ = raw.Close() }()
	// The certificate is noted for people to compare. Nothing is sent that would need
	// it to be trusted.
	conn := tls.Client(raw, oldtls.Dials(&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}))
	if err := conn.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			return a.failed(resultTimeout, "no TLS within %s", f.askFor)
		}
		return a.failed(resultTLS, "the TLS handshake on port %s failed", port)
	}
	sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
	a.fingerprint = "sha256:" + hex.EncodeToString(sum[:])
	return f.root(ctx, a, conn, path)
}

// root sends the request over the connection and reads what comes.
func (f *Finder) root(ctx context.Context, a answer, conn *tls.Conn, path string) answer {
	// A transport follows no redirect, keeps no cookie and, without Proxy, knows none.
	transport := &http.Transport{
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		ForceAttemptHTTP2: true, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxBody,
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address(a.addr)+path, nil)
	if err != nil {
		return a.failed(resultHTTP, "no request can be made")
	}
	request.Header.Set("Accept", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		if ctx.Err() != nil {
			return a.failed(resultTimeout, "no answer within %s", f.askFor)
		}
		return a.failed(resultHTTP, "no HTTP on port %s", port)
	}
	defer func() { _ = response.Body.Close() }()
	if a.status = response.StatusCode; a.status != http.StatusOK {
		return a.failed(resultStatus, "the service root is answered with status %d", a.status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case ctx.Err() != nil:
		return a.failed(resultTimeout, "no whole answer within %s", f.askFor)
	case len(body) > maxBody:
		return a.failed(resultLarge, "the service root has more than %d bytes", maxBody)
	case err != nil:
		return a.failed(resultHTTP, "the answer was cut off")
	}
	if a.root, err = decodeRoot(body); err != nil {
		return a.failed(resultOther, "no Redfish service root is there")
	}
	a.result = resultRoot
	return a
}

func timeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
