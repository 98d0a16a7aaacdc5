package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// verifier reads a blob and ends with an error unless it has the size and digest
// of the artefact. It never gives more than the size: a registry that sends
// without end fills no disk.
type verifier struct {
	r    io.Reader
	want resource.Artefact
	host string
	sum  hash.Hash
	n    int64
	err  error // what ended the transfer, except io.EOF
}

func newVerifier(r io.Reader, want resource.Artefact, host string) *verifier {
	return &verifier{r: r, want: want, host: host, sum: sha256.New()}
}

// Read reads and verifies.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	if v.n+int64(n) > v.want.Size {
		v.err = v.wrong("more than %d bytes", v.want.Size)
		return 0, v.err
	}
	v.n += int64(n)
	v.sum.Write(p[:n])
	if err == nil {
		return n, nil
	}
	got := "sha256:" + hex.EncodeToString(v.sum.Sum(nil))
	switch {
	case errors.Is(err, io.EOF) && v.n == v.want.Size && got == v.want.Digest:
		return n, io.EOF
	case interrupted(err):
		v.err = err
	default: // the registry library found the same, or the connection was cut short
		v.err = v.wrong("%d of %d bytes with digest %s", v.n, v.want.Size, got)
	}
	return n, v.err
}

func (v *verifier) wrong(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, "registry", "%s sent "+format+", wanted %s",
		append(append([]any{v.host}, args...), v.want.Digest)...).
		WithHint("registry %s serves wrong or truncated content; push the image again, or use another mirror", v.host)
}

// interrupted tells a network or our own deadline that ended the transfer from
// wrong content.
func interrupted(err error) bool {
	var ours *protocol.Error
	var netErr net.Error
	return errors.As(err, &ours) || errors.As(err, &netErr) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
