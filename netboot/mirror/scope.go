package mirror

import (
	"net/url"
	"path"
	"strings"

	"rackboot/protocol"
)

// scope is which files are meant: all, those of a URL and below it, or those of a path and
// below it, whatever their host.
type scope struct {
	url  string // without a slash at its end; empty is any
	path string // clean, from the root; empty is any
}

// parseScope reads a text: empty for all, a URL, or a path that begins with "/". Errors:
// invalid.
func parseScope(op, text string) (scope, error) {
	switch {
	case text == "":
		return scope{}, nil
	case strings.HasPrefix(text, "/"):
		p := strings.Trim(text, "/")
		if p == "" || checkName(p) != nil || path.Clean(text) != strings.TrimSuffix(text, "/") {
			return scope{}, protocol.Errorf(protocol.CodeInvalid, op, "%.100q is not a clean path", text).
				WithHint("write a path of the repository's host, such as /debian/dists, or a URL; leave it out for all")
		}
		return scope{path: "/" + p}, nil
	}
	u, err := parseBase(op, text)
	if err != nil {
		return scope{}, err
	}
	return scope{url: strings.TrimSuffix(show(u), "/")}, nil
}

// has says whether a URL, as show writes it, is meant. A name is meant as a whole: dists is
// not dists-old.
func (s scope) has(text string) bool {
	if s.url != "" {
		return text == s.url || strings.HasPrefix(text, s.url+"/")
	}
	if s.path == "" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && (u.Path == s.path || strings.HasPrefix(u.Path, s.path+"/"))
}

// meets says whether something of a tree may be meant.
func (s scope) meets(base string) bool {
	return s.url == "" || s.has(base) || strings.HasPrefix(s.url+"/", base)
}
