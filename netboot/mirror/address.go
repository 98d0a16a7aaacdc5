package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"rackboot/protocol"
)

const (
	maxURL      = 2048 // bytes of a base's URL
	maxName     = 1024 // bytes of a name
	hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]"
)

var errHost = errors.New("no host")

// canonicalHost is a host in lower case without the port that its scheme has anyway; of
// no scheme, without either's.
func canonicalHost(host, scheme string) (string, error) {
	u, err := url.Parse("http://" + host)
	if err != nil || host == "" || u.Host != host || u.Hostname() == "" || strings.Trim(host, hostLetters) != "" || strings.HasSuffix(host, ":") {
		return "", errHost
	}
	port := u.Port()
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", errHost
		}
	}
	if port == "80" && scheme != "https" || port == "443" && scheme != "http" {
		return strings.TrimSuffix(host, ":"+port), nil
	}
	return host, nil
}

// parseBase reads the URL of a tree: its path ends in "/", and its host is in lower case
// without the scheme's own port. What other programs could understand otherwise is
// refused: a user, a query, encoded slashes, dots. Errors: invalid.
func parseBase(op, text string) (*url.URL, error) {
	refuse := func(why string) error {
		shown := text
		if strings.ContainsAny(text, "@?#") || len(text) > maxURL {
			shown = hidden // may have a secret
		}
		return protocol.Errorf(protocol.CodeInvalid, op, "the URL %q %s", shown, why).
			WithHint("write a repository's URL as https://HOST/PATH; a password stands in the agent's file")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, refuse("is none")
	case len(text) > maxURL:
		return nil, refuse("is too long")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse("is neither http nor https")
	case u.User != nil:
		return nil, refuse("names a user")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#"):
		return nil, refuse("has a query or fragment")
	}
	host, err := canonicalHost(strings.ToLower(u.Host), u.Scheme)
	if err != nil {
		return nil, refuse("has no host, or one with other characters than a-z, 0-9, dots, hyphens and a port")
	}
	p := strings.Trim(u.Path, "/")
	if p != "" {
		if err := checkName(p); err != nil || encodes(u.EscapedPath()) || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") {
			return nil, refuse("has a path that is not clean")
		}
		p += "/"
	}
	return &url.URL{Scheme: u.Scheme, Host: host, Path: "/" + p}, nil
}

// checkName refuses names that could mean something else to the other side than a file
// below the base. The error is invalid.
func checkName(name string) error {
	switch {
	case !fs.ValidPath(name), len(name) > maxName, strings.ContainsAny(name, `\?#`), encodes(name),
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return protocol.Errorf(protocol.CodeInvalid, "name", "%.100q is not a clean path below a repository", name).
			WithHint("write a relative path without .., \\, ?, # or encoded slashes")
	}
	return nil
}

// encodes says whether a text has an encoded slash, backslash, dot, or NUL: some servers
// decode once more than we would.
func encodes(text string) bool {
	low := strings.ToLower(text)
	for _, code := range []string{"%2f", "%5c", "%2e", "%00", "%25"} {
		if strings.Contains(low, code) {
			return true
		}
	}
	return false
}

// under is the URL of a name below a base.
func under(base *url.URL, name string) *url.URL {
	u := *base
	if name != "." {
		u.Path += name
	}
	// A plus is a space to some object stores; encoded it is itself to all.
	if escaped := u.EscapedPath(); strings.Contains(escaped, "+") {
		u.RawPath = strings.ReplaceAll(escaped, "+", "%2B")
	}
	return &u
}

// keyOf is the name of a URL in the cache.
func keyOf(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.Scheme + "://" + u.Host + u.Path))
	return hex.EncodeToString(sum[:])
}

// parseStored reads a URL as show writes it.
func parseStored(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "" || u.Host == "" || show(u) != text {
		return nil, errSidecar
	}
	return u, nil
}

// hidden is what stands for a secret in a text.
const hidden = "[hidden]"

// show is a URL as people may see it: a redirect's query may be a password.
func show(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
