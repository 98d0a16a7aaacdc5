package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

const (
	// fetchStall is how long nothing of a download may come.
	fetchStall = time.Minute
	// fetchTries is how often a download is gone on with that does not get any further.
	fetchTries = 5
	// fetchPause doubles with each of them.
	fetchPause = 500 * time.Millisecond
)

// File brings a URL into the cache folder, and goes on with what is there of it. What
// does not have the wanted digest, which may be empty, is removed.
func File(ctx context.Context, src *files.Input, pr *printer.Printer, from *url.URL, want string) (string, error) {
	const op = "download"
	dir, err := cacheDir(src)
	if err != nil {
		return "", err
	}
	d := &download{pr: pr, from: from, path: filepath.Join(dir, hexSum(from.String()))}
	if err := d.whole(ctx); err != nil {
		return "", err
	}
	if want == "" {
		return d.path, nil
	}
	f, err := os.Open(d.path)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if got := "sha256:" + hex.EncodeToString(h.Sum(nil)); got != want {
		return "", errors.Join(protocol.Errorf(protocol.CodeInvalid, op, "%s has %s, not %s", BareURL(from), got, want).
			WithHint("another release is at this URL now, or it was damaged; it was removed, and nothing was uploaded"), d.remove())
	}
	return d.path, nil
}

// cacheDir is where downloads lie until they are uploaded.
func cacheDir(src *files.Input) (string, error) {
	dir := src.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", protocol.Errorf(protocol.CodeInvalid, "find cache", "%w", err).WithHint("set XDG_CACHE_HOME")
		}
		dir = filepath.Join(home, ".cache")
	}
	dir = filepath.Join(dir, "rackctl", "isos")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "find cache", "%w", err).WithHint("set XDG_CACHE_HOME to a folder with room for the file")
	}
	return dir, nil
}

func hexSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// download is one URL on its way into a file. Beside it lies what the server calls this
// version of it, so that two versions are never mixed (RFC 9110, section 13.1.5, If-Range).
type download struct {
	pr   *printer.Printer
	from *url.URL
	path string
}

func (d *download) part() string      { return d.path + ".part" }
func (d *download) validator() string { return d.path + ".etag" }

// Remove removes what fetch has brought.
func Remove(path string) error { return (&download{path: path}).remove() }

func (d *download) remove() error {
	var errs []error
	for _, p := range []string{d.path, d.part(), d.validator()} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// whole downloads until the file is complete.
func (d *download) whole(ctx context.Context) error {
	if _, err := os.Stat(d.path); err == nil {
		d.pr.Progress("%s was downloaded before", BareURL(d.from))
		return nil
	}
	f, err := os.OpenFile(d.part(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "download", "%w", err)
	}
	defer f.Close()
	for try := 1; ; {
		before, err := f.Seek(0, io.SeekEnd)
		if err == nil {
			err = d.piece(ctx, f, before)
		}
		if err == nil {
			break
		}
		if after, seekErr := f.Seek(0, io.SeekEnd); seekErr == nil && after > before {
			try = 1
		} else {
			try++
		}
		if c := protocol.CodeOf(err); c != protocol.CodeUnavailable && c != protocol.CodeTimeout || try > fetchTries || ctx.Err() != nil {
			return err
		}
		d.pr.Progress("%s; it goes on", err)
		select {
		case <-time.After(fetchPause << try):
		case <-ctx.Done():
		}
	}
	if err := errors.Join(f.Sync(), os.Rename(d.part(), d.path)); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "download", "%w", err)
	}
	return nil
}

// piece asks for what is not there yet, and takes what comes.
func (d *download) piece(ctx context.Context, f *os.File, at int64) error {
	const op = "download"
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stall := time.AfterFunc(fetchStall, cancel)
	defer stall.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.from.String(), nil)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s is no URL", BareURL(d.from))
	}
	if tag, err := os.ReadFile(d.validator()); at > 0 && err == nil && len(tag) > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		req.Header.Set("If-Range", string(tag))
	}
	resp, err := Client().Do(req)
	if err != nil {
		return Failed(d.from, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", at)) {
			return protocol.Errorf(protocol.CodeUnsupported, op, "%s answered another range than it was asked for", d.from.Host).WithHint("download it yourself and upload the file")
		}
	case http.StatusOK: // all of it, perhaps another version
		at = 0
		if err := d.anew(f, resp); err != nil {
			return err
		}
	default:
		code := protocol.CodeFromHTTP(resp.StatusCode)
		if resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests {
			code = protocol.CodeUnavailable
		}
		return protocol.Errorf(code, op, "%s answered %s", BareURL(d.from), resp.Status).WithHint("check isoUrl of the boot environment, or the URL")
	}
	total := int64(0)
	if resp.ContentLength > 0 {
		total = at + resp.ContentLength
	}
	if total > api.MaxISOSize {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s has %d bytes, and a file may have %d", BareURL(d.from), total, api.MaxISOSize).WithHint("is it the right URL?")
	}
	b := d.pr.NewBar("downloading "+filepath.Base(d.from.Path), at, total)
	defer b.End()
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	body := b.Reader(&alive{resp.Body, stall}, at)
	n, err := io.Copy(f, io.LimitReader(body, api.MaxISOSize+1-at))
	switch {
	case err != nil:
		return Failed(d.from, err)
	case at+n > api.MaxISOSize:
		return errors.Join(protocol.Errorf(protocol.CodeInvalid, op, "%s has more than the %d bytes that a file may have", BareURL(d.from), api.MaxISOSize).WithHint("is it the right URL?"), d.remove())
	case total > 0 && at+n < total:
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s ended after %d of %d bytes", BareURL(d.from), at+n, total)
	}
	return nil
}

// anew begins the file again.
func (d *download) anew(f *os.File, resp *http.Response) error {
	tag := resp.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") { // a weak one is not for ranges
		tag = resp.Header.Get("Last-Modified")
	}
	if err := errors.Join(f.Truncate(0), os.WriteFile(d.validator(), []byte(tag), 0o600)); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "download", "%w", err)
	}
	return nil
}

// Client follows redirects, but not from https to http.
func Client() *http.Client {
	return &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 || req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// Failed is an error without the URL's query, which may be a credential.
func Failed(from *url.URL, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "download", "%s: %w", BareURL(from), err).
		WithHint("give the same command again: it goes on where it was; or download it yourself and upload the file")
}

// alive notes that something came.
type alive struct {
	r     io.Reader
	stall *time.Timer
}

func (a *alive) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if n > 0 {
		a.stall.Reset(fetchStall)
	}
	return n, err
}

// BareURL is a URL without what may be a credential.
func BareURL(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return bare.String()
}
