package redfish

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"rackboot/protocol"
)

// maxLine is the longest line of an event stream.
const maxLine = 64 << 10

var (
	errLongLine  = errors.New("a line of the event stream is too long")
	errLongEvent = errors.New("an event of the stream is too large")
)

// readStream reads server-sent events (WHATWG HTML, section 9.2.6) and calls
// each with the data of each. It returns what ended the stream; io.EOF is an
// orderly end. active is called for every line, keep-alives included.
func readStream(from io.Reader, active func(), each func(data []byte)) error {
	r := &lines{r: bufio.NewReader(from)}
	var data []byte
	has := false
	for first := true; ; first = false {
		line, err := r.next()
		if err != nil {
			return err // an event without the empty line after it is none
		}
		active()
		if first {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			if has {
				each(data)
			}
			data, has = data[:0:0], false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" { // comments have an empty name
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if has {
			data = append(data, '\n')
		}
		has = true
		if data = append(data, value...); len(data) > maxEventBytes {
			return errLongEvent
		}
	}
}

// lines reads lines that end in LF, CR or CR LF.
type lines struct {
	r      *bufio.Reader
	wasEnd bool // the last line ended in CR, so that a LF belongs to it
}

func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		b, err := l.r.ReadByte()
		if err != nil {
			return nil, err
		}
		ended := l.wasEnd
		l.wasEnd = b == '\r'
		switch {
		case b == '\n' && ended && len(line) == 0:
			continue
		case b == '\r', b == '\n':
			return line, nil
		}
		if line = append(line, b); len(line) > maxLine {
			return nil, errLongLine
		}
	}
}

const opEvents = "bmc.events"

// Events reads the BMC's event stream (EventService.ServerSentEventUri). It
// fails with unsupported where there is none. Whatever an event says, it only
// wakes. End ctx before Close.
func (d *driver) Events(ctx context.Context, wake func()) error {
	uri, err := d.streamURI(ctx)
	if err != nil {
		return err
	}
	l := d.link
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(l.config.RequestTimeout, func() { cancel(context.DeadlineExceeded) })
	defer idle.Stop()
	req, err := l.request(ctx, request{op: opEvents, method: http.MethodGet, uri: uri}, "identity")
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := l.account.client.Do(req)
	if err != nil {
		return l.streamError(ctx, err)
	}
	defer resp.Body.Close()
	if err := context.Cause(ctx); err != nil {
		// A server that sees its client go may answer yet, and be heard before the client is gone.
		return l.streamError(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxLine)) // whatever of it came
		e := l.statusError(opEvents, resp, body)
		if resp.StatusCode == http.StatusUnauthorized {
			e.Code, e.Hint = protocol.CodeUnavailable, "the session ended; the next poll renews it"
		}
		return e
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return l.unusable(opEvents, "it is no event stream")
	}
	idle.Reset(l.config.StreamIdle)
	err = readStream(resp.Body, func() { idle.Reset(l.config.StreamIdle) }, func([]byte) { wake() })
	return l.streamError(ctx, err)
}

func (d *driver) streamURI(ctx context.Context) (string, error) {
	c := d.call(ctx, opEvents)
	root, err := get[object](c, rootURI)
	if err != nil {
		return "", err
	}
	uri := ""
	if service := root.link("EventService"); service != "" {
		o, err := get[object](c, service)
		if err != nil {
			return "", err
		}
		if uri = o.text("ServerSentEventUri"); string(o.f["ServiceEnabled"]) == "false" {
			uri = ""
		}
	}
	if checkURI(uri) != nil {
		return "", protocol.Errorf(protocol.CodeUnsupported, opEvents, "BMC %s has no event stream", d.link.base).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return uri, nil
}

// streamError says what ended a stream.
func (l *link) streamError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errLongLine), errors.Is(err, errLongEvent):
		return l.unusable(opEvents, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, opEvents, "the event stream of BMC %s is silent", l.base).
			WithHint("open it again; polling goes on meanwhile")
	default:
		return protocol.Errorf(protocol.CodeUnavailable, opEvents, "the event stream of BMC %s ended: %w", l.base, bare(err)).
			WithHint("open it again; polling goes on meanwhile")
	}
}
