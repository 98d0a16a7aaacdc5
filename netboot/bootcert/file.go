package bootcert

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/state/file"
)

const (
	caFile  = "ca.pem"
	caKey   = "ca.key"
	caDER   = "ca.cer" // EDK2's set-up menu lists files that end in cer, der or crt
	caList  = "ca.esl"
	certEnd = ".pem"
	keyEnd  = ".key"
	maxFile = 256 << 10 // bytes; a longer one is not ours
)

// Folder is the directory that holds the certificates; see the package comment.
// Writers must not work on it at the same time; a reader may.
type Folder string

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// kinds are the two certificates, in the order of their making.
var kinds = []netboot.KeyKind{netboot.KeyECDSA, netboot.KeyRSA}

// read returns nil without an error if there is no such file. A key that everybody
// may read is denied; a group may, as packagers give one to certificates.
func (f Folder) read(name string, secret bool) ([]byte, error) {
	const op = "read boot certificates"
	file, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.failed("read", name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, f.failed("read", name, err)
	}
	if secret && info.Mode().Perm()&0o007 != 0 {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may be read by everybody (mode %o)", f.path(name), info.Mode().Perm()).
			WithHint("run: chmod 600 %s; if others had access, replace the key", f.path(name))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, f.failed("read", name, err)
	}
	if !info.Mode().IsRegular() || len(data) > maxFile {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is no file of at most %d bytes", f.path(name), maxFile)
	}
	return data, nil
}

// write replaces a file as a whole; it is on disk when write returns.
func (f Folder) write(name string, data []byte, secret bool) error {
	mode := fs.FileMode(0o644)
	if secret {
		mode = 0o600
	}
	return file.Replace(f.path(name), data, mode)
}

func (f Folder) failed(verb, name string, err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, "boot certificates", "cannot %s %s: %w", verb, f.path(name), err).
		WithHint("check the folder's owner and the space on its disk")
}

func (f Folder) broken(name string, err error) error {
	return protocol.Errorf(protocol.CodeInvalid, "read boot certificates", "%s: %w", f.path(name), err).
		WithHint("replace the file, or take it away")
}

// Roots are the certificates of ca.pem; none without the file.
func (f Folder) Roots() ([]*x509.Certificate, error) {
	data, err := f.read(caFile, false)
	if err != nil || data == nil {
		return nil, err
	}
	out, err := parseCertificates(data)
	if err != nil {
		return nil, f.broken(caFile, err)
	}
	return out, nil
}

// Pair reads the certificate of a kind; ok is false if there is none. Errors:
// invalid for what cannot be read as one, denied for a key that everybody may read.
func (f Folder) Pair(kind netboot.KeyKind) (p Pair, ok bool, err error) {
	name := string(kind)
	cert, err := f.read(name+certEnd, false)
	if err != nil {
		return Pair{}, false, err
	}
	key, err := f.read(name+keyEnd, true)
	if err != nil {
		return Pair{}, false, err
	}
	if cert == nil && key == nil {
		return Pair{}, false, nil
	}
	if p, err = parsePair(cert, key); err != nil {
		return Pair{}, false, f.broken(name+certEnd, err)
	}
	return p, true, nil
}

// authority reads the authority; nil if its key is not here.
func (f Folder) authority() (*Authority, error) {
	key, err := f.read(caKey, true)
	if err != nil || key == nil {
		return nil, err
	}
	cert, err := f.read(caFile, false)
	if err != nil {
		return nil, err
	}
	p, err := parsePair(cert, key)
	if err != nil {
		return nil, f.broken(caKey, err)
	}
	if !p.Leaf().IsCA {
		return nil, f.broken(caFile, errors.New("it is not the certificate of an authority"))
	}
	return &Authority{cert: p.Leaf(), key: p.Key}, nil
}

func (f Folder) writeAuthority(a *Authority) error {
	key, err := keyPEM(a.key)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "make boot CA", "%w", err)
	}
	// The certificate last but one: with it there is an authority, and a key without
	// it is overwritten.
	if err := f.write(caKey, key, true); err != nil {
		return err
	}
	return f.write(caFile, certPEM(a.cert), false)
}

func (f Folder) writePair(kind netboot.KeyKind, p Pair) error {
	key, err := keyPEM(p.Key)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "issue boot certificate", "%w", err)
	}
	var certs bytes.Buffer
	for _, c := range p.Chain {
		certs.Write(certPEM(c))
	}
	// One after the other: in between a reader finds that they do not belong together,
	// and looks again.
	if err := f.write(string(kind)+keyEnd, key, true); err != nil {
		return err
	}
	return f.write(string(kind)+certEnd, certs.Bytes(), false)
}
