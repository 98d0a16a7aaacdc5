package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// A bad vector is a message that every implementation must refuse. All of them are
// to be opened with the keys and the topic in the companion.
type bad struct {
	file  string
	code  protocol.Code
	about string
	data  []byte
	zstd  bool // its bytes are the zstd library's of the day
}

// badTopic is that of every bad vector, badKeys are the keys which are accepted.
const badTopic = "rb/v1/a/rack-1/d/hold"

func badKeys() []string { return []string{keyHub} }

// sign1 puts an envelope together byte by byte: what a faulty or hostile sender
// signs, without the checks of a library.
func sign1(t *testing.T, key ed25519.PrivateKey, protected, payload []byte) []byte {
	t.Helper()
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	toSign, err := c.enc.Marshal([]any{"Signature1", protected, []byte(badTopic), payload})
	if err != nil {
		t.Fatal(err)
	}
	data := []byte{0xd2, 0x84}
	for i, part := range [][]byte{protected, nil, payload, ed25519.Sign(key, toSign)} {
		if i == 1 {
			data = append(data, 0xa0)
			continue
		}
		b, err := c.enc.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, b...)
	}
	return data
}

func badVectors(t *testing.T) []bad {
	t.Helper()
	key := vectorKeys()[keyHub]
	s := NewSigner(key)
	good, err := Seal(s, badTopic, holdDoc())
	if err != nil {
		t.Fatal(err)
	}
	other, err := Seal(s, message.TopicDown("rack-2", message.LeafHold), holdDoc())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := Seal(NewSigner(vectorKeys()[keyOther]), badTopic, holdDoc())
	if err != nil {
		t.Fatal(err)
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	kid := KeyID(s.Public())
	header := slices.Concat([]byte{0xa3, 0x01, 0x27, 0x03, 0x18, 0x3c, 0x04, 0x48}, kid)                               // {1: -8, 3: 60, 4: kid}
	packed := slices.Concat([]byte{0xa5, 0x01, 0x27, 0x02, 0x81, 0x3a, 0x00, 0x01, 0x11, 0x70, 0x03, 0x18, 0x3c, 0x04, // {1: -8, 2: [-70001], 3: 60, 4: kid, -70001: 1}
		0x48}, kid, []byte{0x3a, 0x00, 0x01, 0x11, 0x70, 0x01})
	empty := []byte{0xa0}
	flip := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	n := len(header)
	long := slices.Concat([]byte{0xd2, 0x84, 0x59, 0x00, byte(n)}, good[3:]) // 59 00 10 instead of 50
	unprotected := slices.Concat(good[:3+n], []byte{0xa1, 0x18, 0x63, 0x01}, good[4+n:])
	indefinite := slices.Concat([]byte{0xd2, 0x9f}, good[2:], []byte{0xff})
	const denied, invalid = protocol.CodeDenied, protocol.CodeInvalid
	return []bad{
		{"changed-signature", denied, "the last bit of the signature is another", flip(len(good) - 1), false},
		{"changed-payload", denied, "one bit of a hold's mode is another", flip(bytes.Index(good, []byte("soft"))), false},
		{"changed-key-id", denied, "the key id is that of no key", flip(3 + n - 1), false},
		{"other-topic", denied, "sealed for rb/v1/a/rack-2/d/hold", other, false},
		{"other-key", denied, "sealed by a key that is not accepted here", stranger, false},

		{"truncated", invalid, "the last byte is missing", good[:len(good)-1], false},
		{"trailing", invalid, "one byte follows the message", append(bytes.Clone(good), 0), false},
		{"untagged", invalid, "without the tag 18", good[1:], false},
		{"other-tag", invalid, "tag 98 (COSE_Sign) instead of 18", slices.Concat([]byte{0xd8, 0x62}, good[1:]), false},
		{"two-byte-length", invalid, "the length of the protected header takes three bytes instead of one; the signature is right", long, false},
		{"unprotected-header", invalid, "{99: 1} in the unprotected header; the signature is right", unprotected, false},
		{"indefinite-array", invalid, "the array of the envelope is of indefinite length; the signature is right", indefinite, false},
		{"oversize", invalid, "129 KiB, rightly signed", sign1(t, key, header, slices.Concat([]byte{0xa1, 0x61, 'x', 0x5a, 0, 2, 4, 0}, make([]byte, 129<<10))), false},

		{"wrong-alg", invalid, "alg is ES256 (-7), signed by Ed25519", sign1(t, key, bytes.Replace(header, []byte{0x01, 0x27}, []byte{0x01, 0x26}, 1), empty), false},
		{"no-alg", invalid, "without alg", sign1(t, key, slices.Concat([]byte{0xa2}, header[3:]), empty), false},
		{"no-key-id", invalid, "without a key id", sign1(t, key, []byte{0xa2, 0x01, 0x27, 0x03, 0x18, 0x3c}, empty), false},
		{"wrong-content-type", invalid, "content type 50 (application/json)", sign1(t, key, bytes.Replace(header, []byte{0x18, 0x3c}, []byte{0x18, 0x32}, 1), empty), false},
		{"unknown-critical", invalid, "critical header -70002", sign1(t, key, bytes.ReplaceAll(packed, []byte{0x11, 0x70}, []byte{0x11, 0x71}), empty), false},
		{"unknown-compression", invalid, "header -70001 is 2", sign1(t, key, append(bytes.Clone(packed[:len(packed)-1]), 2), empty), false},

		{"duplicate-keys", invalid, `{"agent": "a", "agent": "b"}`, sign1(t, key, header, slices.Concat([]byte{0xa2}, bytes.Repeat([]byte("\x65agent\x61a"), 2))), false},
		{"duplicate-unknown-keys", invalid, `{"zz": "a", "zz": "a"}: unknown fields too`, sign1(t, key, header, slices.Concat([]byte{0xa2}, bytes.Repeat([]byte("\x62zz\x61a"), 2))), false},
		{"null", invalid, "the payload is null instead of a map", sign1(t, key, header, []byte{0xf6}), false},
		{"indefinite-map", invalid, "the message is a map of indefinite length", sign1(t, key, header, []byte{0xbf, 0xff}), false},
		{"payload-trailing", invalid, "a byte follows the map inside of the payload", sign1(t, key, header, []byte{0xa0, 0x00}), false},
		{"tag-in-payload", invalid, "a tag inside of the payload", sign1(t, key, header, []byte{0xc1, 0xa0}), false},
		{"too-deep", invalid, "64 lists in each other", sign1(t, key, header, slices.Concat([]byte{0xa1, 0x61, 'x'}, bytes.Repeat([]byte{0x81}, 64), []byte{0x80})), false},
		{"huge-list", invalid, "a list that says it has 2^32-1 elements", sign1(t, key, header, []byte{0xa1, 0x61, 'x', 0x9a, 0xff, 0xff, 0xff, 0xff}), false},
		{"wrong-type", invalid, `{"agent": 1}`, sign1(t, key, header, []byte("\xa1\x65agent\x01")), false},
		{"not-zstd", invalid, "marked as compressed, and is not", sign1(t, key, packed, empty), false},
		{"bomb", invalid, "64 MiB of zeros in a small zstd frame", sign1(t, key, packed, pack.EncodeAll(make([]byte, 64<<20), nil)), true},
	}
}

// What is refused, and with which code, is part of the protocol.
func TestBadVectors(t *testing.T) {
	dir := filepath.Join("v1", "refused")
	var files []string
	var keys []ed25519.PublicKey
	for _, k := range badKeys() {
		keys = append(keys, vectorKeys()[k].Public().(ed25519.PublicKey))
	}
	v := NewVerifier(keys...)
	for _, b := range badVectors(t) {
		files = append(files, b.file+".hex")
		t.Run(b.file, func(t *testing.T) {
			if *update {
				write(t, dir, b.file+".hex", lines(b.data))
			}
			data := readVector(t, dir, b.file)
			if !b.zstd && !bytes.Equal(data, b.data) {
				t.Error("the file differs from what the test makes")
			}
			text, err := json.MarshalIndent(map[string]any{"about": b.about, "topic": badTopic, "keys": badKeys(), "code": b.code}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, dir, b.file+".json", append(text, '\n'))
			if err := Open(v, badTopic, data, &message.HoldDoc{}); protocol.CodeOf(err) != b.code {
				t.Errorf("got %v, want %s", err, b.code)
			}
			// A denied message has the right form, so that it can be looked at.
			e, err := Inspect(data)
			if b.code == protocol.CodeDenied && (err != nil || e.SignedBy(badTopic, keys[0])) {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
	noOthers(t, dir, files)
}

// The envelopes that the test puts together by hand are the library's.
func TestSign1(t *testing.T) {
	s := NewSigner(testKey(0))
	want := forge(t, s, badTopic, []byte{0xa0}, nil)
	header, err := protectedHeader(s.keyID, false).MarshalCBOR()
	if err != nil {
		t.Fatal(err)
	}
	if got := sign1(t, testKey(0), header[1:], []byte{0xa0}); !bytes.Equal(got, want) {
		t.Errorf("%x\n%x", got, want)
	}
}
