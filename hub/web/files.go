package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Where the page is. All of its files are below PathPage, which is no path of the API.
const (
	PathPage    = "/page/"
	pathSession = PathPage + "session"
	// conditionsFile says of each condition how much it matters and what to do.
	conditionsFile = "conditions.json"
	// refusalsFile says why somebody comes back from a provider without a session.
	refusalsFile = "refusals.json"
	index        = "index.html"
)

//go:embed static
var static embed.FS

// file is a file of the page, ready to be sent.
type file struct {
	name   string
	etag   string // of its content, in quotes
	typ    string
	plain  []byte
	zipped []byte
}

// files are those of the page by their paths below [PathPage]. They never change.
type files map[string]*file

// newFiles reads what is embedded. The code is internal: it cannot happen in a program that was tested.
func newFiles() (files, error) {
	const op = "read the page"
	out := files{}
	root, err := fs.Sub(static, "static")
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return out.add(name, raw)
	})
	for name, content := range map[string]func() ([]byte, error){conditionsFile: conditions, refusalsFile: refusalsJSON} {
		var raw []byte
		if err == nil {
			if raw, err = content(); err == nil {
				err = out.add(name, raw)
			}
		}
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return out, nil
}

func (fs files) add(name string, raw []byte) error {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	f := &file{name: name, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, typ: typeOf(name), plain: raw, zipped: zipped.Bytes()}
	if name == index {
		name = ""
	}
	fs[name] = f
	return nil
}

// typeOf is the media type by the name. The host's own table does not count: a wrong one would have
// browsers refuse modules, as nosniff has them do.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// condition is what the page knows of one beyond its code.
type condition struct {
	Title    string            `json:"title"`
	Severity resource.Severity `json:"severity"`
	Hint     string            `json:"hint"`
}

// conditions are the registered ones as JSON, by code.
func conditions() ([]byte, error) {
	all := map[resource.ConditionCode]condition{}
	for _, c := range resource.Conditions() {
		all[c.Code] = condition{c.Title, c.Severity, c.Hint}
	}
	return json.Marshal(all)
}

// policy is the page's Content-Security-Policy (CSP level 3): it runs and shows only what is of the hub,
// nothing that stands within the page, and stands in nobody's frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// secure sets the headers that each answer of the page has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// serve answers with the file. A browser asks each time whether it still has the newest, so that a hub of another
// version has its own page at once.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.typ)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	body, tag := f.plain, f.etag
	if zips(r) {
		// RFC 9110, section 8.8.3.3: each encoding has a tag of its own.
		body, tag = f.zipped, strings.TrimSuffix(f.etag, `"`)+`z"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(body))
}

// zips reports whether the client takes gzip (RFC 9110, section 12.5.3). What it says in other words than
// browsers do counts as no.
func zips(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(one) == "gzip" {
			return true
		}
	}
	return false
}
