package wire

import (
	"fmt"

	"github.com/veraison/go-cose"
)

// Header parameters and their values; see the package comment.
const (
	contentCBOR       int64 = 60     // application/cbor, RFC 7252 §12.3
	headerCompression int64 = -70001 // private use is below -65536 (RFC 9052 §11.1)
	compressionZstd   int64 = 1
)

func protectedHeader(keyID []byte, packed bool) cose.ProtectedHeader {
	h := cose.ProtectedHeader{
		cose.HeaderLabelAlgorithm:   cose.AlgorithmEdDSA,
		cose.HeaderLabelContentType: contentCBOR,
		cose.HeaderLabelKeyID:       keyID,
	}
	if packed {
		h[cose.HeaderLabelCritical] = []any{headerCompression}
		h[headerCompression] = compressionZstd
	}
	return h
}

// readProtected returns what the header says. Unknown parameters are passed
// over unless they are listed as critical (RFC 9052 §3.1).
func readProtected(h cose.ProtectedHeader) (keyID string, packed bool, err error) {
	if alg, err := h.Algorithm(); err != nil || alg != cose.AlgorithmEdDSA {
		return "", false, fmt.Errorf("the algorithm is not EdDSA")
	}
	if h[cose.HeaderLabelContentType] != contentCBOR {
		return "", false, fmt.Errorf("the content type is not application/cbor")
	}
	kid, ok := h[cose.HeaderLabelKeyID].([]byte)
	if !ok {
		return "", false, fmt.Errorf("the key id is missing")
	}
	crit, err := h.Critical()
	if err != nil {
		return "", false, err
	}
	for _, label := range crit {
		if label != headerCompression {
			return "", false, fmt.Errorf("critical header %v is unknown to this version", label)
		}
	}
	switch h[headerCompression] {
	case nil:
		return string(kid), false, nil
	case compressionZstd:
		return string(kid), true, nil
	}
	return "", false, fmt.Errorf("compression %v is unknown to this version", h[headerCompression])
}
