package ignition

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"time"

	"rackboot/protocol"
)

// Stub is what a configuration says of where the rest of it comes from.
type Stub struct {
	Version string
	// CAs are the certificates that the stub brings with it, those of configurations that
	// it includes too.
	CAs []CA
	// RemoteCAs are the paths of certificate authorities that servers fetch from elsewhere;
	// nothing can be said of them.
	RemoteCAs []string
	// Sources are the scheme and host of the configurations that servers fetch. What else
	// their URLs have may be a secret.
	Sources []string
}

// CA is one certificate of ignition.security.tls.certificateAuthorities.
type CA struct {
	Path     string // of the entry
	Subject  string // RFC 2253
	NotAfter time.Time
	Raw      []byte // DER
}

const opInspect = "inspect ignition"

// Inspect reads where a stub of any specification gets the rest from, and whom it trusts
// with that. Butane is rendered first. Errors are invalid and wrap a *[Refusal].
func Inspect(raw []byte) (Stub, error) {
	s, r := inspect(raw, 0, new(maxInline))
	if r != nil {
		return Stub{}, r.failed(opInspect)
	}
	return s, nil
}

func inspect(raw []byte, depth int, left *allowance) (Stub, *Refusal) {
	t, _, _, r := stubTree(raw)
	if r != nil {
		return Stub{}, r
	}
	h, r := headOf(t)
	if r != nil {
		return Stub{}, r
	}
	out := Stub{Version: h.version}
	for i, entry := range authorityEntries(t) {
		at := authorityPath(i)
		data, ok, r := left.inline(entry, at+".source")
		switch {
		case r != nil:
			return Stub{}, r
		case !ok:
			out.RemoteCAs = append(out.RemoteCAs, at)
			continue
		}
		certs, ok := certificates(data)
		if !ok {
			return Stub{}, refuse(Invalid, at+".source", "has no certificate, or one that cannot be read")
		}
		for _, c := range certs {
			out.CAs = append(out.CAs, CA{Path: at, Subject: c.Subject.String(), NotAfter: c.NotAfter, Raw: c.Raw})
		}
	}
	for _, ref := range references(t) {
		at := ref.path + ".source"
		data, ok, r := left.inline(ref.resource, at)
		switch {
		case r != nil:
			return Stub{}, r
		case !ok:
			out.Sources = append(out.Sources, hostOf(ref.resource.get("source")))
			continue
		case depth == maxIncluded:
			return Stub{}, refuse(Invalid, at, "is included too deep")
		}
		inner, r := inspect(data, depth+1, left)
		if r != nil {
			return Stub{}, r.inside(at)
		}
		out.include(inner, at)
	}
	return out, nil
}

// include adds what a configuration at a path of the stub says.
func (s *Stub) include(inner Stub, at string) {
	for _, c := range inner.CAs {
		c.Path = at + ">" + c.Path
		s.CAs = append(s.CAs, c)
	}
	for _, path := range inner.RemoteCAs {
		s.RemoteCAs = append(s.RemoteCAs, at+">"+path)
	}
	s.Sources = append(s.Sources, inner.Sources...)
}

// authorityKeys lead to the certificate authorities of specification 2.2 and newer.
var authorityKeys = []string{"ignition", "security", "tls", "certificateAuthorities"}

func authorityEntries(t *tree) []*tree {
	if l := t.get(authorityKeys...); l != nil && l.kind == list {
		return l.kids
	}
	return nil
}

// hostOf is the scheme and host of a URL.
func hostOf(source *tree) string {
	if source == nil {
		return ""
	}
	u, err := url.Parse(source.text)
	if err != nil || u.Scheme == "" {
		return "unreadable"
	}
	return u.Scheme + "://" + u.Host
}

// certificates reads a PEM bundle. Blocks that are no certificates are passed over, as
// Ignition does; ok is false if there is none, or one that cannot be read.
func certificates(bundle []byte) (out []*x509.Certificate, ok bool) {
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return out, len(out) > 0
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, false
		}
		out = append(out, c)
	}
}

// authoritySources are the certificates of a bundle as data: URLs, one each: Ignition
// before 2.4.0 reads only the first of a bundle (release notes of 2.4.0).
func authoritySources(bundle string) (out []string, err error) {
	certs, ok := certificates([]byte(bundle))
	if !ok {
		return nil, protocol.Errorf(protocol.CodeInvalid, opTranslate, "the bundle of certificate authorities has no certificate, or one that cannot be read").
			WithHint("give certificates in PEM, nothing else")
	}
	for i, c := range certs {
		if !containsCertificate(certs[:i], c.Raw) {
			out = append(out, dataURL(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
		}
	}
	return out, nil
}

func containsCertificate(certs []*x509.Certificate, raw []byte) bool {
	for _, c := range certs {
		if bytes.Equal(c.Raw, raw) {
			return true
		}
	}
	return false
}

// replaceAuthorities puts others in the place of all certificate authorities.
func (tr translation) replaceAuthorities(t *tree, version string) (changed bool, r *Refusal) {
	there := authorityEntries(t)
	if tr.onlyThere && len(there) == 0 {
		return false, nil
	}
	if version == "1" || version == "2.0.0" || version == "2.1.0" {
		return false, refuse(Invalid, "$.ignition.version", "has no certificate authorities before 2.2.0")
	}
	var entries []*tree
	for _, source := range tr.authorities {
		entries = append(entries, members("source", str(source)))
	}
	l := listOf(entries...)
	if bytes.Equal(l.bytes(), listOf(there...).bytes()) {
		return false, nil
	}
	t.set(l, authorityKeys...)
	return true, nil
}
