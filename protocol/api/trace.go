package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// QueryAttempt is the parameter that names a power-on by its serial.
const QueryAttempt = "attempt"

// TraceWait is how long a hub waits for a trace.
const TraceWait = 15 * time.Second

// ReadWait is how long a hub waits for a server to be read: its BMC may take half a minute.
const ReadWait = 45 * time.Second

// pathRead is the route by which a server is read now.
func pathRead(server string) string { return PathObject(resource.KindServer, server) + "/read" }

// Read has the agent read a server's BMC, by a read that begins after the call.
func (s Servers) Read(ctx context.Context, server string) (out resource.ServerRead, err error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ReadWait+callTimeout)
		defer cancel()
	}
	err = s.hub.call(ctx, http.MethodGet, pathRead(server), nil, &out)
	return out, err
}

// pathTrace is the route of what was seen of a server's power-ons.
func pathTrace(server string) string {
	return PathObject(resource.KindServer, server) + "/trace"
}

// AttemptQuery is the query that names a power-on; empty for the newest, 0.
func AttemptQuery(serial int) string {
	if serial == 0 {
		return ""
	}
	return "?" + url.Values{QueryAttempt: {strconv.Itoa(serial)}}.Encode()
}

// ParseSerial reads the parameter; empty is 0, the newest. The code is invalid.
func ParseSerial(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, protocol.Errorf(protocol.CodeInvalid, "trace", "attempt %.20q is not a number from 1", s).
			WithHint("leave it out for the newest; what is shown says which are kept")
	}
	return n, nil
}

// Trace reads what the agent saw of a server's power-on; serial 0 is the newest.
func (s Servers) Trace(ctx context.Context, server string, serial int) (out resource.Trace, err error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, TraceWait+callTimeout)
		defer cancel()
	}
	err = s.hub.call(ctx, http.MethodGet, pathTrace(server)+AttemptQuery(serial), nil, &out)
	return out, err
}
