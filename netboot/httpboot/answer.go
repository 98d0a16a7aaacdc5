package httpboot

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// answerSize is the buffer of an answer while it is sent: a header and a small body
	// leave by one call. There are as many as answers are being sent.
	answerSize = smallBody + 1<<10
	// smallBody is up to how many bytes reading and writing costs less than sendfile(2),
	// which is a call more.
	smallBody = 4 << 10
	// pieceSize is what is read and written at once of a file that the kernel cannot
	// send: two records of TLS.
	pieceSize = 32 << 10
)

// answer is a front's http.ResponseWriter. Like that of net/http it knows the length of a
// body that fits its buffer; a longer one without Content-Length ends with the connection.
type answer struct {
	link   *link
	asked  *http.Request
	header http.Header
	status int
	length int64 // of the body as the header says; -1 if it does not
	got    int64 // of the body from the handler

	buffer *[]byte // of the front's
	out    []byte  // of the buffer: not sent yet
	headed bool    // the header is in out, or sent
	failed error
}

func (a *answer) begin(asked *http.Request) {
	clear(a.header)
	buffer := a.link.front.heads.Get().(*[]byte)
	*a = answer{link: a.link, asked: asked, header: a.header, length: -1, buffer: buffer, out: (*buffer)[:0]}
}

// end gives the buffer back.
func (a *answer) end() {
	a.link.front.heads.Put(a.buffer)
	a.buffer, a.out, a.asked = nil, nil, nil
}

// Header is what will be sent, until WriteHeader.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader takes the status. One before the answer proper, 1xx, is not sent.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 || status < http.StatusOK {
		return
	}
	a.status = status
	if v := a.header.Get("Content-Length"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			a.length = n
		} else {
			a.header.Del("Content-Length")
		}
	}
	if a.length >= 0 || a.bodyless() {
		a.head()
	}
}

// bodyless says whether an answer ends with its header (RFC 9110 sections 9.3.2, 15.3.5 and
// 15.4.5).
func (a *answer) bodyless() bool {
	return a.asked.Method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified
}

// head puts the header before what is in the buffer of the body.
func (a *answer) head() {
	a.headed = true
	body := a.out
	if len(body) > 0 {
		a.out = make([]byte, 0, answerSize)
	}
	if a.header["Date"] == nil {
		a.header["Date"] = a.link.day.now()
	}
	if a.asked.Close {
		a.header["Connection"] = []string{"close"}
	}
	a.out = append(a.out, "HTTP/1.1 "...)
	a.out = strconv.AppendInt(a.out, int64(a.status), 10)
	a.out = append(a.out, ' ')
	a.out = append(a.out, http.StatusText(a.status)...)
	a.out = append(a.out, '\r', '\n')
	a.fields()
	a.out = append(a.out, '\r', '\n')
	a.out = append(a.out, body...)
}

// fields writes the header in the order of names.
func (a *answer) fields() {
	var few [16]string
	names := few[:0]
	for name := range a.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range a.header[name] {
			if strings.ContainsAny(name, "\r\n: ") || strings.ContainsAny(v, "\r\n") {
				continue // it would be another field
			}
			a.out = append(append(append(append(a.out, name...), ": "...), v...), "\r\n"...)
		}
	}
}

// Write takes a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case a.failed != nil:
		return 0, a.failed
	case a.length >= 0 && int64(len(p)) > a.length-a.got:
		return 0, http.ErrContentLength
	case a.asked.Method == http.MethodHead:
		a.got += int64(len(p))
		return len(p), nil
	case a.bodyless():
		return 0, http.ErrBodyNotAllowed
	}
	if len(p) > answerSize-len(a.out) {
		if err := a.push(true); err != nil {
			return 0, err
		}
	}
	if len(p) <= answerSize-len(a.out) {
		a.out = append(a.out, p...)
		a.got += int64(len(p))
		return len(p), nil
	}
	n, err := a.link.conn.Write(p)
	a.got, a.failed = a.got+int64(n), err
	return n, err
}

// ReadFrom takes a part of the body: a small one goes with the header, of a large one the
// connection sends the file.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	part, ok := r.(*io.LimitedReader)
	if !ok || !a.headed || a.bodyless() || part.N > a.length-a.got {
		return io.Copy(struct{ io.Writer }{a}, r)
	}
	if free := answerSize - len(a.out); part.N <= smallBody && part.N <= int64(free) {
		return a.read(part)
	}
	to, ok := a.link.conn.(io.ReaderFrom)
	if !ok {
		return a.copy(part)
	}
	if err := a.push(true); err != nil {
		return 0, err
	}
	n, err := to.ReadFrom(part)
	a.got, a.failed = a.got+n, err
	return n, err
}

// copy sends a part by reading and writing, with what was not sent yet before it.
func (a *answer) copy(part *io.LimitedReader) (total int64, err error) {
	piece := a.link.front.pieces.Get().(*[]byte)
	defer a.link.front.pieces.Put(piece)
	held := copy(*piece, a.out)
	a.out = a.out[:0]
	for part.N > 0 || held > 0 {
		n, err := io.ReadFull(part, (*piece)[held:min(int64(len(*piece)), int64(held)+part.N)])
		if held+n > 0 {
			var sent int
			sent, a.failed = a.link.conn.Write((*piece)[:held+n])
			total += int64(max(0, sent-held))
			a.got += int64(max(0, sent-held))
		}
		switch held = 0; {
		case a.failed != nil:
			return total, a.failed
		case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF): //nolint:errorlint // that of a reader is bare
			return total, nil // it is shorter than it was
		case err != nil:
			return total, err
		}
	}
	return total, nil
}

// read appends all of a small part.
func (a *answer) read(part *io.LimitedReader) (total int64, err error) {
	for part.N > 0 && err == nil {
		var n int
		n, err = part.Read(a.out[len(a.out) : len(a.out)+int(part.N)])
		a.out = a.out[:len(a.out)+n]
		total += int64(n)
	}
	a.got += total
	if err == io.EOF { //nolint:errorlint // that of a reader is bare
		err = nil
	}
	return total, err
}

// push sends what is in the buffer. With more, it may wait for what follows.
func (a *answer) push(more bool) error {
	if !a.headed { // its length is not known, so that the end of the connection is its own
		a.asked.Close = true
		a.head()
	}
	if len(a.out) == 0 || a.failed != nil {
		return a.failed
	}
	if c, ok := a.link.conn.(*fileConn); ok && more {
		a.failed = c.writeMore(a.out)
	} else {
		_, a.failed = a.link.conn.Write(a.out)
	}
	a.out = a.out[:0]
	return a.failed
}

// FlushError sends what there is.
func (a *answer) FlushError() error {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.push(false)
}

// SetWriteDeadline bounds sending; a little later than said.
func (a *answer) SetWriteDeadline(by time.Time) error {
	l := a.link
	if !l.writeBy.Before(by) && !l.writeBy.After(by.Add(slack)) {
		return nil
	}
	l.writeBy = by.Add(slack)
	return l.conn.SetWriteDeadline(l.writeBy)
}

// SetReadDeadline bounds reading until the request is answered.
func (a *answer) SetReadDeadline(by time.Time) error {
	a.link.readBy = time.Time{}
	return a.link.conn.SetReadDeadline(by)
}

// finish sends the rest, and says whether the client knows where the answer ended.
func (a *answer) finish() bool {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if !a.headed {
		a.length = a.got
		a.header.Set("Content-Length", strconv.FormatInt(a.length, 10))
		a.head()
	}
	return a.push(false) == nil && (a.got == a.length || a.bodyless())
}
