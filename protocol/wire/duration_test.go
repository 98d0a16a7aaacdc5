package wire

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"rackboot/protocol"
)

// A duration travels as the integer that time.Duration is.
func TestDuration(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 23, 24, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64, -1, -24, -25, -256, -257, math.MinInt64, time.Minute} {
		want, err := cbor.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cbor.Marshal(protocol.Duration(d))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d is %x, want %x: %v", d, got, want, err)
		}
		var back protocol.Duration
		if err := cbor.Unmarshal(got, &back); err != nil || back.D() != d {
			t.Errorf("%x is %d, want %d: %v", got, back, d, err)
		}
	}
}

// FuzzDuration: what is taken is what the codec reads as an integer, and nothing else is.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"", "\x00", "\x17", "\x18\x01", "\x1b\x7f\xff\xff\xff\xff\xff\xff\xff", "\x1b\x80\x00\x00\x00\x00\x00\x00\x00", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", "\x1c", "\x1f", "\x621s", "\xf6", "\x19\x01"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got protocol.Duration
		err := got.UnmarshalCBOR(in)
		var want int64
		wrong := cbor.Unmarshal(in, &want)
		if len(in) > 0 && in[0]>>5 > 1 {
			wrong = cbor.Unmarshal([]byte("\x60"), &want) // other types may become 0 or a whole number there
		}
		if (err == nil) != (wrong == nil) || err == nil && int64(got) != want {
			t.Fatalf("%x: %d, %v; the codec reads %d, %v", in, got, err, want, wrong)
		}
	})
}
