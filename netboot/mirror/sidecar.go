package mirror

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// sidecarVersion grows when the form of a sidecar changes; one of another version is
// dropped, and what it described is fetched again.
const sidecarVersion = 1

// maxSidecar bounds the files that describe others, in bytes.
const maxSidecar = 256 << 10

// entry is what is known of a URL, as it is on disk.
type entry struct {
	Version int    `json:"version"`
	URL     string `json:"url"`
	// ETag and LastModified are as they came; Modified is LastModified's time, or when
	// the file came.
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"lastModified,omitempty"`
	Modified     time.Time `json:"modified"`
	Size         int64     `json:"size"`   // bytes
	SHA256       string    `json:"sha256"` // of the content, hex
	Fetched      time.Time `json:"fetched"`
	// Checked is when the other side last said that this is the file, and Lifetime for
	// how many seconds that holds; -1 if it did not say.
	Checked  time.Time `json:"checked"`
	Lifetime int64     `json:"lifetime"`
}

var errSidecar = errors.New("not a description of a file in this cache")

// parseEntry reads a sidecar. It may be damaged, or somebody else's.
func parseEntry(raw []byte) (entry, error) {
	var e entry
	if err := strict(raw, &e); err != nil {
		return entry{}, err
	}
	switch {
	case e.Version != sidecarVersion, e.URL == "", e.Size < 0, e.Lifetime < unsaid, !isHash(e.SHA256), e.Checked.IsZero(),
		strings.ContainsAny(e.ETag+e.LastModified, "\r\n"):
		return entry{}, errSidecar
	}
	return e, nil
}

// strict decodes one JSON value without fields that are unknown, and nothing after it.
func strict(raw []byte, to any) error {
	if len(raw) > maxSidecar {
		return errSidecar
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errSidecar
	}
	return nil
}

// isHash says whether a text is a SHA-256 in lower-case hex. It becomes a file name.
func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 64 && s == strings.ToLower(s)
}

// heard is an entry with what an answer says of it.
func (e entry) heard(h http.Header, now time.Time) entry {
	e.Version, e.Checked, e.Lifetime = sidecarVersion, now, lifetime(h, now)
	if v := oneLine(h.Get("ETag")); v != "" {
		e.ETag = v
	}
	if v := oneLine(h.Get("Last-Modified")); v != "" {
		e.LastModified = v
	}
	if t, err := http.ParseTime(e.LastModified); err == nil {
		e.Modified = t
	}
	if e.Modified.IsZero() {
		e.Modified = now.UTC().Truncate(time.Second)
	}
	return e
}

// renewed is an entry that an answer says is still the file. What identifies the file
// stays as it was: it is what was asked about. An answer that says nothing of a lifetime
// leaves that as it was (RFC 9111 section 3.2).
func (e entry) renewed(h http.Header, now time.Time) entry {
	e.Checked = now
	if n := lifetime(h, now); n != unsaid {
		e.Lifetime = n
	}
	return e
}

// oneLine is a header's value if it can be sent back and kept, else empty.
func oneLine(v string) string {
	if len(v) > 1024 || strings.ContainsAny(v, "\r\n") {
		return ""
	}
	return v
}

// conditions are the headers that ask whether an entry is still the file.
func (e entry) conditions() http.Header {
	h := http.Header{}
	if e.ETag != "" {
		h.Set("If-None-Match", e.ETag)
	}
	if e.LastModified != "" {
		h.Set("If-Modified-Since", e.LastModified)
	}
	return h
}

// tag is the ETag that readers see: the other side's if it is strong, else one made of
// the content, which there is no better for.
func (e entry) tag() string {
	if t := strongTag(e.ETag); t != "" {
		return t
	}
	if e.SHA256 == "" {
		return ""
	}
	return `"` + e.SHA256 + `"`
}
