package bootcert

import (
	"crypto/x509"
	"os"
	"slices"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/state/file"
)

// Made says what Make did.
type Made struct {
	Authority bool              // a new one, to be enrolled
	Issued    []netboot.KeyKind // certificates that are new
}

// Make brings the folder to what is needed: an authority, certificates of it for the
// names, and the authority's certificate as firmware takes it. It may be called any
// number of times: what is there stays, until it is due to be renewed or is for other
// names. The files are on disk when it returns; a crash leaves what the next call
// completes.
//
// Errors: invalid for the names and for damaged files, conflict if a certificate
// would have to be replaced that the folder's authority has not made or whose
// authority's key is away, denied for a key that everybody may read, unavailable if
// the disk fails.
func (f Folder) Make(names Names, now time.Time) (Made, error) { return f.make(names, now, newKey) }

func (f Folder) make(names Names, now time.Time, source keySource) (Made, error) {
	var made Made
	if err := names.validate(); err != nil {
		return made, err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return made, f.failed("create", "", err)
	}
	if err := file.Sweep(string(f)); err != nil {
		return made, err
	}
	a, err := f.openAuthority(now, source, &made)
	if err != nil {
		return made, err
	}
	for _, kind := range kinds {
		old, ok, err := f.Pair(kind)
		if protocol.CodeOf(err) == protocol.CodeInvalid && a != nil && !f.foreign(kind, a) {
			ok, err = false, nil // a crash between key and certificate
		}
		if err != nil {
			return made, err
		}
		if ok && fits(kind, old, names) && !wanted(old, a, now) && (a == nil || a.issued(old.Leaf())) {
			continue
		}
		if a == nil || (ok && !a.issued(old.Leaf())) {
			return made, f.keep(kind, a == nil)
		}
		p, err := a.issue(kind, names, now, source)
		if err != nil {
			return made, err
		}
		if err := f.writePair(kind, p); err != nil {
			return made, err
		}
		made.Issued = append(made.Issued, kind)
	}
	return made, f.export()
}

// openAuthority reads the authority, and makes one in a folder that has none. It is
// nil where only its certificate is.
func (f Folder) openAuthority(now time.Time, source keySource, made *Made) (*Authority, error) {
	roots, err := f.Roots()
	if err != nil {
		return nil, err
	}
	if len(roots) > 0 {
		return f.authority()
	}
	for _, kind := range kinds {
		if _, ok, err := f.Pair(kind); ok || err != nil {
			return nil, protocol.Errorf(protocol.CodeConflict, "make boot CA", "%s has a certificate and no %s", f.path(string(kind)+certEnd), caFile).
				WithHint("put the authority's certificate there as %s, or use another folder", caFile)
		}
	}
	a, err := newAuthority(now, source)
	if err != nil {
		return nil, err
	}
	made.Authority = true
	return a, f.writeAuthority(a)
}

// fits says whether a certificate is of the kind and for the names.
func fits(kind netboot.KeyKind, p Pair, names Names) bool {
	return p.Kind() == kind && p.Names().equal(names)
}

// wanted says whether a certificate is due. One that ends with its authority is not:
// another would end as soon.
func wanted(p Pair, a *Authority, now time.Time) bool {
	return Due(p.Leaf(), now) && (a == nil || p.Leaf().NotAfter.Before(a.cert.NotAfter))
}

// foreign says whether a file of a certificate is there that the authority has not
// made, whatever is the matter with its key.
func (f Folder) foreign(kind netboot.KeyKind, a *Authority) bool {
	data, err := f.read(string(kind)+certEnd, false)
	if err != nil {
		return true
	}
	certs, err := parseCertificates(data)
	return data != nil && (err != nil || !a.issued(certs[0]))
}

func (f Folder) keep(kind netboot.KeyKind, keyAway bool) error {
	what, hint := "is not of the boot CA in the folder", "replace it where it came from; or take it away with its key, to have one made"
	if keyAway {
		what, hint = "is due or for other names, and "+caKey+" is not here", "bring "+caKey+" back, or issue the certificate where it is"
	}
	return protocol.Errorf(protocol.CodeConflict, "make boot certificates", "%s %s", f.path(string(kind)+certEnd), what).WithHint("%s", hint)
}

// export writes the authority as firmware takes it, where that is not so already.
func (f Folder) export() error {
	roots, err := f.Roots()
	if err != nil {
		return err
	}
	var der []byte // a menu takes one; more are for the list
	if len(roots) > 0 {
		der = roots[0].Raw
	}
	for name, data := range map[string][]byte{caDER: der, caList: x509Lists(owner(), roots...)} {
		old, err := f.read(name, false)
		if err != nil || slices.Equal(old, data) {
			continue
		}
		if err := f.write(name, data, false); err != nil {
			return err
		}
	}
	return nil
}

// Enrolled are the files of the folder that firmware takes: DER for a set-up menu,
// a signature list, and PEM for Redfish.
func (f Folder) Enrolled() (der, list, pem string) {
	return f.path(caDER), f.path(caList), f.path(caFile)
}

// RenewFrom is when a certificate is made anew, before it ends.
func RenewFrom(c *x509.Certificate) time.Time { return c.NotAfter.Add(-renewBefore) }
