package gate

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

const (
	// bodyTimeout is how long the body of a request may take to come.
	bodyTimeout = 10 * time.Second
	// maxOpenBody bounds the body of a request that nobody is known to send, in bytes.
	maxOpenBody = 64 << 10
)

// read reads the body of a request before it takes one of the places of those that are
// answered, so that nobody who sends slowly keeps others out.
func read(w http.ResponseWriter, r *http.Request, g *gauge, most int64) error {
	if !mutates(r) || r.Body == nil || r.Body == http.NoBody {
		r.Body = http.NoBody
		return nil
	}
	select {
	case g.reading <- struct{}{}:
		defer func() { <-g.reading }()
	default:
		route.Unread(w, r)
		w.Header().Set("Retry-After", "1")
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "read request", "%d bodies of this caller are being read already", maxReading).
			WithHint("try again, and send fewer at once")).WithStatus(http.StatusTooManyRequests)
	}
	// A writer without deadlines has none to set: that of a test.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	switch {
	case err == nil:
	case errors.Is(err, os.ErrDeadlineExceeded):
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeTimeout, "read request", "the body did not come within %s", bodyTimeout).
			WithHint("nothing was done; send it again")).WithStatus(http.StatusRequestTimeout)
	default:
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, "read request", "the body is longer than %d bytes", most).
				WithHint("send it in parts; %s describes the request", protoapi.PathOpenAPI)).WithStatus(http.StatusRequestEntityTooLarge)
		}
		return protocol.Errorf(protocol.CodeInvalid, "read request", "the body did not come whole").WithHint("nothing was done; send it again")
	}
	// From here on the connection is read to see whether the client is gone.
	_ = rc.SetReadDeadline(time.Now().Add(readTimeout))
	r.Body = &replay{bytes.NewReader(raw), raw}
	return nil
}

// replay is a body that was read.
type replay struct {
	*bytes.Reader
	raw []byte
}

// Close implements io.Closer.
func (*replay) Close() error { return nil }

// rawBody is the body of a request that read has read.
func rawBody(r *http.Request) []byte {
	if b, ok := r.Body.(*replay); ok {
		return b.raw
	}
	return nil
}
