package httpboot

import (
	"io"
	"net/http"
	"time"
)

const (
	// progressTimeout is how long a client may take for one progressChunk: a
	// transfer may last for hours, but not stand still.
	progressTimeout = 30 * time.Second
	progressChunk   = 1 << 20
)

// writer counts what goes to the client and moves the write deadline with each
// chunk. Its ReadFrom keeps net/http's, so that files go out by sendfile.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	status  int
	bytes   int64
}

func newWriter(w http.ResponseWriter) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w)}
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
	if w.status == 0 {
		w.status = http.StatusOK
	}
	src, left := r, int64(-1)
	if lr, ok := r.(*io.LimitedReader); ok {
		src, left = lr.R, lr.N
		defer func() { lr.N -= total }()
	}
	for left != 0 {
		chunk := int64(progressChunk)
		if left > 0 {
			chunk = min(chunk, left)
		}
		w.progress()
		n, err := io.Copy(w.ResponseWriter, &io.LimitedReader{R: src, N: chunk})
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

// flush hands what net/http has buffered to the kernel.
func (w *writer) flush() error {
	w.progress()
	return w.control.Flush()
}

// progress moves the deadline. A connection without deadlines (a test's recorder)
// has nothing to bound.
func (w *writer) progress() {
	_ = w.control.SetWriteDeadline(time.Now().Add(progressTimeout))
}
