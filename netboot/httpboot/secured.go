package httpboot

import (
	"crypto/tls"
	"errors"
	"io"
	"time"
)

// secured is a connection with TLS. Header and body of a small file are one record: to the
// client, which decrypts and wakes for each, and to us, two cost as much again.
type secured struct {
	*tls.Conn
	unread
	below accepted
}

func secure(c accepted, with *tls.Config) *secured {
	return &secured{Conn: tls.Server(c, with), below: c}
}

// notTLS is the answer to who speaks HTTP on a port of HTTPS, as net/http gives it.
const notTLS = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

// begin does the handshake, within headerTimeout.
func (c *secured) begin() error {
	if err := c.SetDeadline(time.Now().Add(headerTimeout)); err != nil {
		return err
	}
	err := c.Handshake()
	if wrong, ok := errors.AsType[tls.RecordHeaderError](err); ok && wrong.Conn != nil && isMethod(wrong.RecordHeader) {
		_, _ = io.WriteString(wrong.Conn, notTLS) // it is closed then
	}
	return errors.Join(err, c.SetDeadline(time.Time{}))
}

// isMethod says whether what should be a record is the beginning of an HTTP request.
func isMethod(b [5]byte) bool {
	switch string(b[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		return true
	}
	return false
}

// Read reads what was put back first.
func (c *secured) Read(p []byte) (int, error) {
	if len(c.bytes) > 0 {
		return c.take(p), nil
	}
	return c.Conn.Read(p)
}

// cut closes the connection without a word to the client, which may not take any.
func (c *secured) cut() { c.below.cut() }
