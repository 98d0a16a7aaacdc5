package redfish

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"rackboot/protocol"
)

// events reads the event stream of a BMC.
type events struct {
	link    *link
	opening time.Duration // bounds the wait for the answer
	idle    time.Duration // ends a stream on which nothing came
}

func newEvents(l *link, opening, idle time.Duration) *events {
	return &events{link: l, opening: opening, idle: idle}
}

// read reads the BMC's event stream (EventService.ServerSentEventUri). It
// fails with unsupported where there is none. Whatever an event says, it only
// wakes. End ctx before Close.
func (e *events) read(ctx context.Context, wake func()) error {
	uri, err := e.streamURI(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(e.opening, func() { cancel(context.DeadlineExceeded) })
	defer idle.Stop()
	resp, err := e.link.stream(ctx, opEvents, uri, "text/event-stream")
	if _, unsent := errors.AsType[*protocol.Error](err); unsent {
		return err
	}
	if err != nil {
		return e.ended(ctx, err)
	}
	defer resp.Body.Close()
	if err := context.Cause(ctx); err != nil {
		// A server that sees its client go may answer yet, and be heard before the client is gone.
		return e.ended(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxLine)) // whatever of it came
		refused := e.link.report.statusError(opEvents, resp, body)
		if resp.StatusCode == http.StatusUnauthorized {
			refused.Code, refused.Hint = protocol.CodeUnavailable, "the session ended; the next poll renews it"
		}
		return refused
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return e.link.report.unusable(opEvents, "it is no event stream")
	}
	idle.Reset(e.idle)
	err = readStream(resp.Body, func() { idle.Reset(e.idle) }, func([]byte) { wake() })
	return e.ended(ctx, err)
}

func (e *events) streamURI(ctx context.Context) (string, error) {
	c := newCall(ctx, opEvents, e.link)
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
		return "", protocol.Errorf(protocol.CodeUnsupported, opEvents, "BMC %s has no event stream", e.link.base).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return uri, nil
}

// ended says what ended a stream.
func (e *events) ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errLongLine), errors.Is(err, errLongEvent):
		return e.link.report.unusable(opEvents, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, opEvents, "the event stream of BMC %s is silent", e.link.base).
			WithHint("open it again; polling goes on meanwhile")
	default:
		return protocol.Errorf(protocol.CodeUnavailable, opEvents, "the event stream of BMC %s ended: %w", e.link.base, bare(err)).
			WithHint("open it again; polling goes on meanwhile")
	}
}
