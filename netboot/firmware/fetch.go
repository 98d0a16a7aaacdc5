package firmware

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Fetch loads a file as a loader does that firmware has started: by HTTP with a GET
// alone, or, where the URL is "tftp:" and a name, from the client's TFTP server. Errors
// are those of HTTPBoot and PXEBoot.
func (c *Client) Fetch(ctx context.Context, where string) (Result, error) {
	if name, ok := strings.CutPrefix(where, "tftp:"); ok {
		return c.transfer(ctx, c.TFTP, name)
	}
	u, err := url.Parse(where)
	if err != nil {
		return Result{}, err
	}
	h := c.newHTTP()
	defer h.transport.CloseIdleConnections()
	got, err := h.do(ctx, http.MethodGet, u)
	if err != nil {
		return Result{}, err
	}
	return Result{URL: where, SHA256: got.sha256, Size: got.read, ContentType: got.contentType, Head: got.head}, nil
}
