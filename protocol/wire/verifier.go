package wire

import (
	"crypto/ed25519"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/veraison/go-cose"
)

// Verifier opens messages that one of its keys has sealed. It is safe for
// concurrent use.
type Verifier struct {
	keys   map[string]cose.Verifier // by key id
	codec  codec
	unpack *zstd.Decoder
	rooms  *sync.Pool // of *[]byte, for what is unpacked
	err    error      // why it cannot verify; Open returns it
}

// NewVerifier makes a verifier for the keys. Without a usable key it refuses
// everything.
func NewVerifier(keys ...ed25519.PublicKey) *Verifier {
	v := &Verifier{rooms: &sync.Pool{New: func() any { return new([]byte) }}}
	if v.codec, v.err = newCodec(); v.err != nil {
		return v
	}
	v.unpack, v.err = newUnpacker()
	return v.Beside(keys...)
}

// Beside makes a verifier for other keys that shares the decompressor of v, which has some 200 KiB
// once it was used. It is for a process that hears thousands.
func (v *Verifier) Beside(keys ...ed25519.PublicKey) *Verifier {
	out := &Verifier{keys: map[string]cose.Verifier{}, codec: v.codec, unpack: v.unpack, rooms: v.rooms, err: v.err}
	for _, k := range keys {
		if len(k) != ed25519.PublicKeySize {
			continue
		}
		cv, err := cose.NewVerifier(cose.AlgorithmEdDSA, k)
		if err != nil {
			continue
		}
		out.keys[string(KeyID(k))] = cv
	}
	return out
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
