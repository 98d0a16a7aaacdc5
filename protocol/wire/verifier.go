package wire

import (
	"crypto/ed25519"

	"github.com/klauspost/compress/zstd"
	"github.com/veraison/go-cose"
)

// Verifier opens messages that one of its keys has sealed. It is safe for
// concurrent use.
type Verifier struct {
	keys   map[string]cose.Verifier // by key id
	codec  codec
	unpack *zstd.Decoder
	err    error // why it cannot verify; Open returns it
}

// NewVerifier makes a verifier for the keys. Without a usable key it refuses
// everything.
func NewVerifier(keys ...ed25519.PublicKey) *Verifier {
	v := &Verifier{keys: map[string]cose.Verifier{}}
	if v.codec, v.err = newCodec(); v.err != nil {
		return v
	}
	for _, k := range keys {
		if len(k) != ed25519.PublicKeySize {
			continue
		}
		cv, err := cose.NewVerifier(cose.AlgorithmEdDSA, k)
		if err != nil {
			continue
		}
		v.keys[string(KeyID(k))] = cv
	}
	v.unpack, v.err = newUnpacker()
	return v
}

// newUnpacker makes a decompressor whose caps hold before anything is allocated: a
// frame states its window and may state its size, and a longer one is cut off while
// it is decoded.
func newUnpacker() (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxUnpacked),
		zstd.WithDecoderMaxWindow(MaxUnpacked))
}
