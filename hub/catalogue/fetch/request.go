package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"rackboot/protocol"
)

// ask sends a GET with headers.
func (f *Fetcher) ask(ctx context.Context, op, from string, headers map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is no URL", bare(from))
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity") // what is hashed is what is published
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, failed(op, from, err)
	}
	return resp, nil
}

// refusedBy is an answer that is no content.
func refusedBy(op, from string, resp *http.Response) error {
	code := protocol.CodeFromHTTP(resp.StatusCode)
	if resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests {
		code = protocol.CodeUnavailable
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return protocol.Errorf(protocol.CodeDenied, op, "%s leads on too often, or from https to http", bare(from)).WithHint("give the URL that it leads to in a new entry")
	}
	return protocol.Errorf(code, op, "%s answered %s", bare(from), resp.Status).WithHint("it is tried again; if the file is gone, take an entry with another URL")
}

// failed is an error without the URL's query, which may be a credential.
func failed(op, from string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	code := protocol.CodeUnavailable
	if errors.Is(err, context.DeadlineExceeded) {
		code = protocol.CodeTimeout
	}
	return protocol.Errorf(code, op, "%s: %w", bare(from), err).WithHint("it goes on by itself; check the hub's way to the server, and catalogue.caFile of its file")
}

// bare is a URL without what may be a credential.
func bare(from string) string {
	u, err := url.Parse(from)
	if err != nil {
		return "the URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
