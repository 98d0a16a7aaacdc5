package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// callTimeout bounds a call whose context has no deadline.
const callTimeout = 30 * time.Second

// maxAnswer bounds an answer in bytes: a list of many hundred servers.
const maxAnswer = 64 << 20

// Client calls an agent over its socket. It is safe for concurrent use.
type Client struct {
	path string
	http *http.Client
}

// NewClient makes a client of the socket at path; nothing is dialled yet.
func NewClient(path string) *Client {
	return &Client{path: path, http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if err := checkPath("open the socket", path); err != nil {
				return nil, err
			}
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
	}}}
}

// Status reads the state of the agent.
func (c *Client) Status(ctx context.Context) (out Status, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/status", nil, &out)
	return out, err
}

// Servers lists the servers that the agent has heard of.
func (c *Client) Servers(ctx context.Context) ([]Summary, error) {
	var out List[Summary]
	err := c.call(ctx, http.MethodGet, "/v1/servers", nil, &out)
	return out.Items, err
}

// Server reads and explains one server.
func (c *Client) Server(ctx context.Context, name string) (out Server, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/servers/"+url.PathEscape(name), nil, &out)
	return out, err
}

// Trace reads what was seen of a power-on of a server; serial 0 is the newest.
func (c *Client) Trace(ctx context.Context, server string, serial int) (out resource.Trace, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/servers/"+url.PathEscape(server)+"/trace"+api.AttemptQuery(serial), nil, &out)
	return out, err
}

// Mirror reads what there is of package repositories.
func (c *Client) Mirror(ctx context.Context) (out resource.MirrorStatus, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/mirror", nil, &out)
	return out, err
}

// Flush forgets what is cached of package repositories. Repeating it is safe.
func (c *Client) Flush(ctx context.Context, r api.FlushRequest) (out resource.MirrorFlushed, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/mirror/flush", r, &out)
	return out, err
}

// Holds lists the holds at the agent.
func (c *Client) Holds(ctx context.Context) ([]Hold, error) {
	var out List[Hold]
	err := c.call(ctx, http.MethodGet, "/v1/holds", nil, &out)
	return out.Items, err
}

// Place places a hold on a server. Repeating it is safe.
func (c *Client) Place(ctx context.Context, server string, r api.HoldRequest) (out Hold, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/servers/"+url.PathEscape(server)+"/holds", r, &out)
	return out, err
}

// Resume asks for a server to be booted on. It has been begun or refused soon after; the
// server's requests say which.
func (c *Client) Resume(ctx context.Context, server string, r ResumeRequest) (out Resumed, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/servers/"+url.PathEscape(server)+"/resume", r, &out)
	return out, err
}

// Release releases a hold. Repeating it is safe.
func (c *Client) Release(ctx context.Context, id string, r api.ReleaseRequest) (out Hold, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/holds/"+url.PathEscape(id)+"/release", r, &out)
	return out, err
}

// ConfirmDown says that a held server is down. Repeating it is safe.
func (c *Client) ConfirmDown(ctx context.Context, id string, r api.ConfirmRequest) (out Hold, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/holds/"+url.PathEscape(id)+"/confirm-down", r, &out)
	return out, err
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	op := strings.ToLower(method) + " " + path
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if in == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://agent"+path, bytes.NewReader(raw))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreached(ctx, op, err)
	}
	defer resp.Body.Close()
	raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.unreached(ctx, op, err)
	case len(raw) > maxAnswer:
		return protocol.Errorf(protocol.CodeInternal, op, "the agent's answer is longer than %d bytes", maxAnswer)
	case resp.StatusCode >= 300:
		return problemIn(op, resp, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "the agent's answer cannot be read: %w", err).
			WithHint("agent and command may be of different versions; compare them with rackboot-agent --version")
	}
	return nil
}

func problemIn(op string, resp *http.Response, raw []byte) error {
	if mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mt == api.ProblemType {
		var p api.Problem
		if json.Unmarshal(raw, &p) == nil {
			p.Status = resp.StatusCode
			return p.Err()
		}
	}
	return protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), op, "answered %s without a problem", resp.Status).
		WithHint("check that the socket is that of an agent")
}

func (c *Client) unreached(ctx context.Context, op string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return protocol.Errorf(protocol.CodeDenied, op, "%w", err).
			WithHint("only the agent's user, root and members of socketGroup may open %s", c.path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).
			WithHint("no agent listens on %s; start it, or give its socket with --socket or its file with --config", c.path)
	case ctx.Err() != nil:
		return protocol.Errorf(protocol.CodeTimeout, op, "no answer in time: %w", err).WithHint("try again; repeating is safe")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("look at the agent's log; repeating is safe")
}
