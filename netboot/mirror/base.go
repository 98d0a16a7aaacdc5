package mirror

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Base is a tree that may be asked: a URL, and all that is below it. Where one base is
// below another, the longer one counts.
type Base struct {
	// URL is http or https, host, and path; no user, query or fragment.
	URL string
	// Username and Password are sent by basic authentication (RFC 7617), or Bearer as a
	// token (RFC 6750). They go to the URL's host, for what is below the URL, and nowhere
	// else. On an http URL they are readable on the way.
	Username, Password, Bearer string
	// CA are PEM certificates that the host is trusted by, in place of the system's.
	CA []byte
	// Hosts are other hosts (host, or host:port) that it may send us to.
	Hosts []string
}

// LogValue shows the URL only.
func (b Base) LogValue() slog.Value { return slog.StringValue(b.URL) }

// String is the URL.
func (b Base) String() string { return b.URL }

// site is a Base in use.
type site struct {
	base  Base
	url   *url.URL // canonical; the path ends in "/"
	hosts []string // canonical
	roots *x509.CertPool
	next  http.RoundTripper
	opens opens
	health
}

// newSite checks a base. Errors: invalid.
func newSite(op string, b Base) (*site, error) {
	u, err := parseBase(op, b.URL)
	if err != nil {
		return nil, err
	}
	s := &site{base: b, url: u}
	switch {
	case b.Bearer != "" && (b.Username != "" || b.Password != ""):
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has both a token and a password", u).WithHint("give one of them")
	case strings.Contains(b.Username, ":"): // RFC 7617 section 2
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the user name of %s has a colon", u)
	case strings.ContainsFunc(b.Bearer, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the token of %s has characters that no header may have", u)
	}
	for _, h := range b.Hosts {
		host, err := canonicalHost(strings.ToLower(h), "")
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s may send us to %.100q, which is no host", u, h).WithHint("write host or host:port")
		}
		s.hosts = append(s.hosts, host)
	}
	if len(b.CA) > 0 {
		s.roots = x509.NewCertPool()
		if !s.roots.AppendCertsFromPEM(b.CA) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the authority of %s has no PEM certificate", u)
		}
	}
	return s, nil
}

// covers says whether a URL is the base's, or below it.
func (s *site) covers(u *url.URL) bool {
	return u.Scheme == s.url.Scheme && u.Host == s.url.Host && strings.HasPrefix(u.Path, s.url.Path)
}

// authorize adds the credentials to a request that they are for.
func (s *site) authorize(req *http.Request) {
	if !s.covers(req.URL) {
		return
	}
	switch {
	case s.base.Bearer != "":
		req.Header.Set("Authorization", "Bearer "+s.base.Bearer)
	case s.base.Username != "" || s.base.Password != "":
		req.SetBasicAuth(s.base.Username, s.base.Password)
	}
}

// scrub takes the secrets out of a text: the other side may answer with what it was sent.
// What the text quotes of an answer is left out, as it may be a part of one.
func (s *site) scrub(text string) string {
	secrets := []string{s.base.Bearer, s.base.Password}
	if s.base.Password != "" {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(s.base.Username+":"+s.base.Password)))
	}
	for _, secret := range slices.DeleteFunc(secrets, func(s string) bool { return s == "" }) {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	if at := strings.IndexByte(text, '"'); at >= 0 {
		text = strings.TrimRight(text[:at], " :(")
	}
	return text
}

// scrubbed is an error whose text has no secrets; one that had some loses its chain.
func (s *site) scrubbed(err error) error {
	if text := s.scrub(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
