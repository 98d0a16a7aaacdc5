package probe

import (
	"context"
	"io"
	"net/http"

	"rackboot/protocol"
)

// read gets a short file of the boot. It is asked for once: who is to do nothing unless the
// agent says so does nothing where it says nothing.
func (p *poster) read(ctx context.Context, url string) (string, error) {
	const op = "read file of the boot"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "the URL cannot be used")
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", withoutURL(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", withoutURL(err))
	case resp.StatusCode != http.StatusOK:
		return "", protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), op, "the agent answers %s", resp.Status)
	}
	return string(text), nil
}
