package slots

import (
	"bytes"
	"testing"
)

// FuzzDecode shows that what is on disk is a record that was written there, or none.
func FuzzDecode(f *testing.F) {
	f.Add(encode(1, []byte("record")))
	f.Add(encode(1<<63, nil))
	f.Add(make([]byte, 200))
	f.Add(append(encode(7, []byte("shorter")), "than what was there before"...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, ok := decode(raw)
		if !ok {
			return
		}
		if again := encode(s.sequence, s.data); !bytes.Equal(again, raw[:len(again)]) {
			t.Errorf("sequence %d, %d bytes: it was not written so", s.sequence, len(s.data))
		}
		for i := range headerSize + min(len(s.data), 100) {
			raw[i] ^= 1
			if _, ok := decode(raw); ok {
				t.Errorf("byte %d is another, and it is read", i)
			}
			raw[i] ^= 1
		}
	})
}
