package ignition

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"slices"
	"time"
)

// CAFindingKind says what is wrong with a certificate authority.
type CAFindingKind string

// The kinds of findings. The first two are of the condition StubCAExpiring, the last of
// StubCAMismatch.
const (
	CAExpiring CAFindingKind = "Expiring" // within the time that was asked for
	CAExpired  CAFindingKind = "Expired"
	CAMismatch CAFindingKind = "Mismatch" // none is an authority of the configuration's server
)

// CAFinding is one finding on the authorities of a stub. Path, Subject and NotAfter are
// of the authority, and of a Mismatch empty.
type CAFinding struct {
	Kind     CAFindingKind `json:"kind"`
	Path     string        `json:"path,omitempty"`
	Subject  string        `json:"subject,omitempty"`
	NotAfter time.Time     `json:"notAfter,omitzero"`
	Message  string        `json:"message"`
}

// CheckCA says which authorities of a stub have expired or expire within a time, and
// whether one of them is among serverCA, the PEM bundle of the server that has the
// configuration; "" does not compare. The findings are in order of expiry, a mismatch
// last. An authority that was issued anew with the same key and name counts as the same.
// Authorities that are fetched from elsewhere may be any: with one there is no mismatch.
//
//	serverCA is | the stub has it | it has remote ones | outcome
//	none        | *               | *                  | nothing
//	unreadable  | *               | *                  | Mismatch
//	readable    | yes             | *                  | nothing
//	readable    | no              | yes                | nothing
//	readable    | no              | no                 | Mismatch
//
// The first row that fits decides.
func CheckCA(s Stub, now time.Time, within time.Duration, serverCA string) []CAFinding {
	var out []CAFinding
	for _, c := range s.CAs {
		f := CAFinding{Path: c.Path, Subject: c.Subject, NotAfter: c.NotAfter}
		switch {
		case now.After(c.NotAfter):
			f.Kind, f.Message = CAExpired, "has expired"
		case c.NotAfter.Sub(now) <= within:
			f.Kind, f.Message = CAExpiring, "expires soon"
		default:
			continue
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b CAFinding) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter), cmp.Compare(a.Path, b.Path))
	})
	if serverCA == "" {
		return out
	}
	trusted, ok := certificates([]byte(serverCA))
	switch {
	case !ok:
		out = append(out, CAFinding{Kind: CAMismatch, Message: "the server's authorities have no certificate, or one that cannot be read"})
	case !s.trusts(trusted) && len(s.RemoteCAs) == 0:
		out = append(out, CAFinding{Kind: CAMismatch, Message: "none of the stub's authorities is one of the configuration's server"})
	}
	return out
}

// trusts says whether one of the certificates is an authority of the stub.
func (s Stub) trusts(certs []*x509.Certificate) bool {
	return slices.ContainsFunc(s.CAs, func(c CA) bool {
		own, err := x509.ParseCertificate(c.Raw)
		if err != nil {
			return false
		}
		return slices.ContainsFunc(certs, func(other *x509.Certificate) bool {
			return bytes.Equal(own.Raw, other.Raw) ||
				bytes.Equal(own.RawSubject, other.RawSubject) && bytes.Equal(own.RawSubjectPublicKeyInfo, other.RawSubjectPublicKeyInfo)
		})
	})
}
