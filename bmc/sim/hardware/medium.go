package hardware

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	// fetchTimeout bounds one request of a BMC for a part of an image.
	fetchTimeout = 10 * time.Second
	// firstRead is what a BMC reads of an image when it is inserted, to see that it can.
	firstRead = 64 << 10
	// copySize is how much is read at once when a machine takes the whole image.
	copySize = 1 << 20
	// maxCached bounds an image that a BMC keeps whole.
	maxCached = 1 << 30
)

// Medium is an image in a virtual drive, as its host sees it: each read is a request of
// the BMC, unless it has kept the image.
type Medium struct {
	Slot string // its URI
	URL  string
	Size int64

	client *http.Client
	whole  []byte // that the BMC has kept
}

// NewMedium is an image that is to be inserted: it is fetched from the BMC's own
// address, and every certificate is trusted. keep fetches all of it at once.
func NewMedium(slot, url, from string, keep bool) (*Medium, error) {
	dialer := &net.Dialer{Timeout: fetchTimeout}
	if host, _, err := net.SplitHostPort(from); err == nil {
		if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
			dialer.LocalAddr = &net.TCPAddr{IP: ip}
		}
	}
	m := &Medium{Slot: slot, URL: url, client: &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}}
	return m, m.load(keep)
}

// ReadAt implements io.ReaderAt.
func (m *Medium) ReadAt(p []byte, at int64) (int, error) {
	switch {
	case at >= m.Size:
		return 0, io.EOF
	case m.whole != nil:
		n := copy(p, m.whole[at:])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	want := p[:min(int64(len(p)), m.Size-at)]
	if err := m.fetch(want, at); err != nil {
		return 0, err
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(want), nil
}

// fetch reads one part by a Range request.
func (m *Medium) fetch(p []byte, at int64) error {
	if len(p) == 0 {
		return nil
	}
	resp, err := m.ask(http.MethodGet, fmt.Sprintf("bytes=%d-%d", at, at+int64(len(p))-1))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusPartialContent {
		return fmt.Errorf("image: answer %s", resp.Status)
	}
	_, err = io.ReadFull(resp.Body, p)
	return err
}

func (m *Medium) ask(method, part string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	req, err := http.NewRequestWithContext(ctx, method, m.URL, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	if part != "" {
		req.Header.Set("Range", part)
	}
	resp, err := m.client.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancelBody{resp.Body, cancel}
	return resp, nil
}

type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close ends the request.
func (b *cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// load looks at an image that is to be inserted, as BMCs do: its length, and its beginning
// or, if it is kept, all of it.
func (m *Medium) load(keep bool) error {
	resp, err := m.ask(http.MethodHead, "")
	if err != nil {
		return err
	}
	m.Size = resp.ContentLength
	if err := resp.Body.Close(); err != nil {
		return err
	}
	switch {
	case resp.StatusCode != http.StatusOK || m.Size <= 0:
		return fmt.Errorf("image: answer %s", resp.Status)
	case !keep:
		return m.fetch(make([]byte, min(m.Size, firstRead)), 0)
	case m.Size > maxCached:
		return errors.New("image: too large to keep")
	}
	whole := make([]byte, m.Size)
	err = m.fetch(whole, 0)
	m.whole = whole
	return err
}

// copyTo writes the whole image to a file.
func (m *Medium) copyTo(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{io.NewSectionReader(m, 0, m.Size)}, make([]byte, copySize))
	return err
}
