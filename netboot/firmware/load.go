package firmware

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"rackboot/protocol"
)

const userAgent = "UefiHttpBoot/1.0"

// load is HttpBootClient.c: HEAD for the type and size, where that fails a whole
// GET to count, then the GET that loads, over one connection.
func (c *Client) load(ctx context.Context, uri string) (Result, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Hostname() == "" {
		return Result{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "boot URI is not a URL: %w", ErrProtocol)
	}
	h := c.newHTTP()
	defer h.transport.CloseIdleConnections()
	head, err := h.do(ctx, http.MethodHead, u)
	if err != nil || head.length < 0 {
		if head, err = h.do(ctx, http.MethodGet, u); err != nil {
			return Result{}, err
		}
		head.length = head.read
	}
	if !bootable(head.contentType, u.Path) {
		return Result{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "%w: content type %q and no known file extension", ErrProtocol, head.contentType)
	}
	got, err := h.do(ctx, http.MethodGet, u)
	if err != nil {
		return Result{}, err
	}
	if got.read != head.length {
		return Result{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "%w: %d bytes announced, %d received", ErrProtocol, head.length, got.read)
	}
	return Result{URL: uri, SHA256: got.sha256, Size: got.read, ContentType: head.contentType}, nil
}

// bootable is HttpBootCheckImageType: the content type is compared as it is, with
// any parameter it is another one; else the last four characters of the path count.
func bootable(contentType, urlPath string) bool {
	switch contentType {
	case "application/efi", "application/vnd.efi-iso", "application/vnd.efi-img":
		return true
	}
	switch strings.ToLower(path.Ext(urlPath)) {
	case ".efi", ".iso", ".img":
		return true
	}
	return false
}

// httpClient is EDK2's HTTP: one connection, no redirects, no compression.
type httpClient struct {
	client    *http.Client
	transport *http.Transport
	timeout   time.Duration
}

func (c *Client) newHTTP() *httpClient {
	h := &httpClient{timeout: c.HTTPTimeout}
	if h.timeout == 0 {
		h.timeout = httpTimeout
	}
	dialer := &net.Dialer{Timeout: h.timeout}
	if c.From.IsLoopback() && c.From.Is4() {
		dialer.LocalAddr = &net.TCPAddr{IP: c.From.AsSlice()}
	}
	h.transport = &http.Transport{
		MaxConnsPerHost:       1,
		DisableCompression:    true,
		ResponseHeaderTimeout: h.timeout,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
	}
	if c.Roots == nil {
		h.transport.TLSClientConfig.RootCAs = x509.NewCertPool() // not the host's
	}
	h.client = &http.Client{
		Transport:     h.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

type response struct {
	contentType string
	length      int64 // Content-Length; -1 if there is none
	read        int64
	sha256      string
	head        []byte
}

func (h *httpClient) do(ctx context.Context, method string, u *url.URL) (response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return response{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "boot URI cannot be requested")
	}
	req.Host = u.Hostname() // EDK2 leaves out the port
	req.Header.Set("Accept", "*/*")
	req.Header.Set("User-Agent", userAgent)
	resp, err := h.client.Do(req)
	if err != nil {
		return response{}, h.broken(method, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return response{}, protocol.Errorf(protocol.CodeNotFound, "firmware", "%s: %w", method, ErrRefused)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return response{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "%s: %w: status %d", method, ErrProtocol, resp.StatusCode)
	}
	out := response{contentType: resp.Header.Get("Content-Type"), length: resp.ContentLength}
	sum := sha256.New()
	stalled := time.AfterFunc(h.timeout, cancel)
	defer stalled.Stop()
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		stalled.Reset(h.timeout)
		sum.Write(buf[:n])
		out.head = append(out.head, buf[:min(n, headBytes-len(out.head))]...)
		out.read += int64(n)
		if errors.Is(err, io.EOF) {
			out.sha256 = hex.EncodeToString(sum.Sum(nil))
			return out, nil
		}
		if err != nil {
			return response{}, h.broken(method, err)
		}
	}
}

// broken drops the URL from the error: its path holds a token.
func (h *httpClient) broken(method string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	code := protocol.CodeUnavailable
	var timeout net.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		code = protocol.CodeTimeout
	}
	return protocol.Errorf(code, "firmware", "%s: %w", method, err)
}

// Report sends a report to the base URL that Plain got as Bootfile
// (http://address/b/token/), as JSON if it has more than a state. The system trusts who
// firmware trusts. Errors: invalid, not_found if the token is not known, unavailable,
// timeout, and what the server's status says.
func (c *Client) Report(ctx context.Context, base string, r protocol.ProbeReport) error {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || !strings.HasSuffix(u.Path, "/") {
		return protocol.Errorf(protocol.CodeInvalid, "report", "base is not a URL that ends in a slash")
	}
	var body []byte
	if r.Message != "" || r.Inventory != nil {
		if body, err = json.Marshal(r); err != nil {
			return protocol.Errorf(protocol.CodeInvalid, "report", "%w", err)
		}
	}
	h := c.newHTTP()
	defer h.transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath("report", string(r.State)).String(), bytes.NewReader(body))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "report", "making the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return h.broken(http.MethodPost, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), "report", "server answered %d", resp.StatusCode)
	}
	return nil
}

// maxUserData bounds what UserData reads, in bytes.
const maxUserData = 2 << 20

// UserData reads the user data below a base URL as Plain got it, from the address that
// was leased, as the operating system's initramfs does. Errors: invalid, not_found if the
// server gives none, unavailable, timeout.
func (c *Client) UserData(ctx context.Context, base string) (contentType string, data []byte, err error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || !strings.HasSuffix(u.Path, "/") {
		return "", nil, protocol.Errorf(protocol.CodeInvalid, "user data", "base is not a URL that ends in a slash")
	}
	h := c.newHTTP()
	defer h.transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("ignition").String(), http.NoBody)
	if err != nil {
		return "", nil, protocol.Errorf(protocol.CodeInvalid, "user data", "making the request: %w", err)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return "", nil, h.broken(http.MethodGet, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil, protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), "user data", "server answered %d", resp.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxUserData))
	if err != nil {
		return "", nil, h.broken(http.MethodGet, err)
	}
	return resp.Header.Get("Content-Type"), data, nil
}
