package httpboot

import (
	"io"
	"net/http"
	"net/netip"
	"time"
)

const (
	// progressTimeout is how long a client may take for one progressChunk: a
	// transfer may last for hours, but not stand still.
	progressTimeout = 30 * time.Second
	progressChunk   = 1 << 20
)

// connection is what a ResponseWriter of net/http and that of the front have beyond one.
type connection interface {
	SetReadDeadline(by time.Time) error
	SetWriteDeadline(by time.Time) error
	FlushError() error
}

// writer counts what goes to the client and moves the write deadline with each
// chunk. Its ReadFrom keeps that of the connection, so that files go out by sendfile.
type writer struct {
	http.ResponseWriter
	control connection // nil for a test's recorder
	client  netip.Addr
	status  int
	bytes   int64
	values  [maxSet]string // of the header, see set
	used    int
}

// maxSet is more fields than a file's answer has.
const maxSet = 8

func newWriter(w http.ResponseWriter) *writer {
	control, _ := w.(connection)
	return &writer{ResponseWriter: w, control: control}
}

// set sets a field of the header, whose name is canonical, without an allocation of its
// own.
func (w *writer) set(h http.Header, name, value string) {
	if w.used == maxSet {
		h[name] = []string{value}
		return
	}
	w.values[w.used] = value
	w.used++
	h[name] = w.values[w.used-1 : w.used : w.used]
}

// Unwrap lets http.ResponseController find the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.progress()
	w.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.progress()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom copies in chunks. net.TCPConn recognises a file behind one
// io.LimitedReader only, so that the caller's is taken apart.
func (w *writer) ReadFrom(r io.Reader) (total int64, err error) {
	begun := w.status != 0 && w.bytes == 0 // WriteHeader has moved the deadline
	if w.status == 0 {
		w.status = http.StatusOK
	}
	src, left := r, int64(-1)
	if lr, ok := r.(*io.LimitedReader); ok {
		src, left = lr.R, lr.N
		defer func() { lr.N -= total }()
	}
	part := io.LimitedReader{R: src}
	for left != 0 {
		chunk := int64(progressChunk)
		if left > 0 {
			chunk = min(chunk, left)
		}
		part.N = chunk
		if !begun {
			w.progress()
		}
		begun = false
		n, err := io.Copy(w.ResponseWriter, &part)
		total += n
		w.bytes += n
		if err != nil {
			return total, err
		}
		if n < chunk {
			return total, nil
		}
		if left > 0 {
			left -= n
		}
	}
	return total, nil
}

// flush hands what is buffered to the kernel, within the time of the last chunk.
func (w *writer) flush() error {
	if w.control == nil {
		return http.ErrNotSupported
	}
	return w.control.FlushError()
}

// progress moves the deadline. A connection without deadlines (a test's recorder)
// has nothing to bound.
func (w *writer) progress() { w.progressAt(time.Now()) }

func (w *writer) progressAt(now time.Time) {
	if w.control != nil {
		_ = w.control.SetWriteDeadline(now.Add(progressTimeout))
	}
}

// readBy bounds reading the request's body.
func (w *writer) readBy(by time.Time) {
	if w.control != nil {
		_ = w.control.SetReadDeadline(by)
	}
}
