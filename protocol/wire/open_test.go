package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
	"github.com/veraison/go-cose"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Every byte of a sealed message is covered by its signature or its form.
func TestTamperedBytesAreRefused(t *testing.T) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	down := func(leaf string) string { return message.TopicDown("rack-1", leaf) }
	for _, g := range []vector{{topic: down(message.LeafHold), msg: holdDoc()}, {topic: down(message.RackLeaf(0)), msg: bareShard(4)}} { // plain, compressed
		data, err := Seal(s, g.topic, g.msg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			for _, flip := range []byte{1 << (i % 8), 0xff} {
				bad := bytes.Clone(data)
				bad[i] ^= flip
				if err := Open(v, g.topic, bad, g.empty(t)); err == nil {
					t.Fatalf("byte %d with %08b flipped was accepted", i, flip)
				}
			}
		}
		for _, bad := range [][]byte{nil, data[:len(data)-1], append(bytes.Clone(data), 0), data[1:]} {
			if err := Open(v, g.topic, bad, g.empty(t)); protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%d of %d bytes: %v", len(bad), len(data), err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	s, other := NewSigner(testKey(0)), NewSigner(testKey(1))
	topic := message.TopicDown("rack-1", message.LeafHold)
	data, err := Seal(s, topic, holdDoc())
	if err != nil {
		t.Fatal(err)
	}
	good := NewVerifier(s.Public())
	for _, row := range []struct {
		name  string
		v     *Verifier
		topic string
		code  protocol.Code
	}{
		{"the right key and topic", good, topic, ""},
		{"one of two keys", NewVerifier(other.Public(), s.Public()), topic, ""},
		{"no verifier", nil, topic, protocol.CodeDenied},
		{"no keys", NewVerifier(), topic, protocol.CodeDenied},
		{"an unusable key", NewVerifier(ed25519.PublicKey("short")), topic, protocol.CodeDenied},
		{"another key", NewVerifier(other.Public()), topic, protocol.CodeDenied},
		{"another agent's topic (P11)", good, message.TopicDown("rack-2", message.LeafHold), protocol.CodeDenied},
		{"another leaf (P11)", good, message.TopicDown("rack-1", message.LeafSync), protocol.CodeDenied},
		{"a fact instead of a message", good, FactGrant, protocol.CodeDenied},
		{"no topic", good, "", protocol.CodeDenied},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := Open(row.v, row.topic, data, &message.HoldDoc{}); protocol.CodeOf(err) != row.code {
				t.Errorf("got %v, want code %q", err, row.code)
			}
		})
	}
}

// forge signs a payload with a valid key, whatever the payload is.
func forge(t testing.TB, s *Signer, topic string, payload []byte, change func(*cose.Headers)) []byte {
	t.Helper()
	h := cose.Headers{Protected: protectedHeader(s.keyID, false), Unprotected: cose.UnprotectedHeader{}}
	if change != nil {
		change(&h)
	}
	data, err := cose.Sign1(nil, s.cose, h, payload, []byte(topic))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func packedHeader(h *cose.Headers) {
	h.Protected[cose.HeaderLabelCritical] = []any{headerCompression}
	h.Protected[headerCompression] = compressionZstd
}

// Rows are signed by the right key: they are the limits of Open, not the
// signature's.
func TestSignedButMalformed(t *testing.T) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	empty := []byte{0xa0}
	bomb := pack.EncodeAll(make([]byte, 64<<20), nil)
	half := pack.EncodeAll(make([]byte, MaxUnpacked-1), nil)
	deep := append(bytes.Repeat([]byte{0x81}, 64), 0x80)
	for _, row := range []struct {
		name    string
		payload []byte
		change  func(*cose.Headers)
		ok      bool
	}{
		{"an empty map", empty, nil, true},
		{"an unknown field", []byte{0xa1, 0x61, 'x', 0x01}, nil, true},
		{"an unknown header", empty, func(h *cose.Headers) { h.Protected[int64(-70002)] = int64(1) }, true},
		{"an unknown critical header", empty, func(h *cose.Headers) {
			h.Protected[int64(-70002)] = int64(1)
			h.Protected[cose.HeaderLabelCritical] = []any{int64(-70002)}
		}, false},
		{"an unknown compression", empty, func(h *cose.Headers) { h.Protected[headerCompression] = int64(2) }, false},
		{"another content type", empty, func(h *cose.Headers) { h.Protected[cose.HeaderLabelContentType] = int64(50) }, false},
		{"no key id", empty, func(h *cose.Headers) { delete(h.Protected, cose.HeaderLabelKeyID) }, false},
		{"an unprotected header", empty, func(h *cose.Headers) { h.Unprotected[int64(99)] = int64(1) }, false},
		{"a compressed map", pack.EncodeAll(empty, nil), packedHeader, true},
		{"64 MiB in a small frame", bomb, packedHeader, false},
		{"several frames over the cap", append(bytes.Clone(half), half...), packedHeader, false},
		{"not zstd", []byte("zstd?"), packedHeader, false},
		{"too deep", append([]byte{0xa1, 0x61, 'x'}, deep...), nil, false},
		{"a list of 2^32 elements", []byte{0xa1, 0x61, 'x', 0x9a, 0xff, 0xff, 0xff, 0xff}, nil, false},
		{"the same key twice", []byte{0xa2, 0x65, 'a', 'g', 'e', 'n', 't', 0x61, 'a', 0x65, 'a', 'g', 'e', 'n', 't', 0x61, 'b'}, nil, false},
		{"a tag", []byte{0xc1, 0xa0}, nil, false},
		{"indefinite length", []byte{0xbf, 0xff}, nil, false},
		{"bytes after the map", []byte{0xa0, 0xa0}, nil, false},
		{"nothing", []byte{}, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := Open(v, "t", forge(t, s, "t", row.payload, row.change), &message.Hello{})
			if row.ok && err != nil {
				t.Error(err)
			}
			if !row.ok && protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("got %v, want invalid", err)
			}
		})
	}
}

// A broken string of one BMC must not hide the rack's report.
func TestInvalidUTF8IsRead(t *testing.T) {
	s := NewSigner(testKey(0))
	data, err := Seal(s, "t", message.Hello{Version: "\xff"})
	if err != nil {
		t.Fatal(err)
	}
	var out message.Hello
	if err := Open(NewVerifier(s.Public()), "t", data, &out); err != nil || out.Version != "\xff" {
		t.Errorf("%q, %v", out.Version, err)
	}
}

func TestSealRefuses(t *testing.T) {
	s := NewSigner(testKey(0))
	random := make([]byte, MaxMessage) // zstd cannot pack it
	if _, err := rand.NewChaCha8([32]byte{}).Read(random); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		s    *Signer
		msg  any
		size string
	}{
		{"sealed form too large", s, map[string][]byte{"x": random}, fmt.Sprint(MaxMessage)},
		{"message too large", s, map[string]string{"x": strings.Repeat("x", MaxUnpacked)}, fmt.Sprint(MaxUnpacked)},
		{"a channel", s, make(chan int), ""},
		{"no signer", nil, grant(), ""},
		{"no key", NewSigner(nil), grant(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Seal(row.s, "t", row.msg)
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.size) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The digest of a document is compared between versions, so maps have an order.
func TestMapsAreDeterministic(t *testing.T) {
	s := NewSigner(testKey(0))
	first, err := Seal(s, "t", hello())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, err := Seal(s, "t", hello()); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("other bytes (%v)", err)
		}
	}
	var plain cose.Sign1Message
	if err := plain.UnmarshalCBOR(first); err != nil {
		t.Fatal(err)
	}
	// RFC 8949 §4.2.1: keys in bytewise order of their encoding, so "at" is first.
	if diag, err := cbor.Diagnose(plain.Payload); err != nil || !strings.HasPrefix(diag, `{"at": "2026-11-20T10:00:00.123456789Z"`) {
		t.Errorf("%s (%v)", diag, err)
	}
}
