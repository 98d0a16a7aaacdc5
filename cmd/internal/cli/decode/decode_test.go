package decode

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/publickey"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// wireKey is the n-th fixed key.
func wireKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func seal(t testing.TB, n byte, topic string, msg any) []byte {
	t.Helper()
	data, err := wire.Seal(wire.NewSigner(wireKey(n)), topic, msg)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func public(n byte) publickey.Key {
	return publickey.Key{File: "key", Key: wireKey(n).Public().(ed25519.PublicKey)}
}

// wrap breaks text into lines of n characters.
func wrap(text string, n int) string {
	var out []string
	for part := range slices.Chunk([]byte(text), n) {
		out = append(out, string(part))
	}
	return strings.Join(out, "\n")
}

func TestParseCapture(t *testing.T) {
	one := seal(t, 1, "a", message.Hello{Agent: "one"})
	two := seal(t, 1, "b", message.Hello{Agent: "two"})
	h1, h2 := hex.EncodeToString(one), hex.EncodeToString(two)
	b1 := base64.StdEncoding.EncodeToString(one)
	for _, row := range []struct {
		name, in string
		want     []captured
		code     protocol.Code
	}{
		{"bytes", string(one), []captured{{0, "", one}}, ""},
		{"bytes and a new line, as without mosquitto_sub -N", string(one) + "\n", []captured{{0, "", one}}, ""},
		{"other bytes", "\xd3\x00", []captured{{0, "", []byte{0xd3, 0}}}, ""},
		{"hex", h1, []captured{{0, "", one}}, ""},
		{"hex in capitals", strings.ToUpper(h1) + "\n", []captured{{0, "", one}}, ""},
		{"hex over lines", wrap(h1, 64), []captured{{0, "", one}}, ""},
		{"hex over lines, cut short", wrap(h1[:len(h1)-2], 64), []captured{{0, "", one[:len(one)-1]}}, ""},
		{"hex with spaces", wrap(h1, 2), []captured{{0, "", one}}, ""},
		{"base64", b1, []captured{{0, "", one}}, ""},
		{"base64 over lines", wrap(b1, 76) + "\r\n", []captured{{0, "", one}}, ""},
		{"base64 for URLs, not padded", base64.RawURLEncoding.EncodeToString(one), []captured{{0, "", one}}, ""},
		{"a message to a line", h1 + "\n" + h2 + "\n", []captured{{1, "", one}, {2, "", two}}, ""},
		{"topics", "rb/v1/x " + h1 + "\n\n# what came next\n rb/v1/y " + b1 + "\r\n", []captured{{1, "rb/v1/x", one}, {4, "rb/v1/y", one}}, ""},
		{"a topic of a bridge", "site/rb/v1/x " + h1, []captured{{1, "site/rb/v1/x", one}}, ""},
		{"a topic and no message", "rb/v1/x", nil, protocol.CodeInvalid},
		{"a topic and no message, empty", "rb/v1/x " + h1 + "\nrb/v1/y", nil, protocol.CodeInvalid},
		{"words", "no message", nil, protocol.CodeInvalid},
		{"nothing", "", nil, protocol.CodeInvalid},
		{"a comment", "# nothing\n", nil, protocol.CodeInvalid},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := parseCapture([]byte(row.in))
			if protocol.CodeOf(err) != row.code {
				t.Fatal(err)
			}
			if row.code != "" {
				return
			}
			if !slices.EqualFunc(got, row.want, func(a, b captured) bool {
				return a.line == b.line && a.topic == b.topic && bytes.Equal(a.data, b.data)
			}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestDecodeVerifies(t *testing.T) {
	topic := message.TopicDown("rack-1", message.RackLeaf(0))
	doc := func(grant []byte) []byte {
		return seal(t, 1, topic, message.RackDoc{Agent: "rack-1", Servers: []message.ServerIntent{{Server: "n1", Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{Grant: grant}}}}}})
	}
	grant := seal(t, 1, wire.FactGrant, message.Grant{Server: "n1"})
	for _, row := range []struct {
		name  string
		d     decoder
		c     captured
		kind  string
		says  string // of the message, or of the grant inside
		fails bool
	}{
		{"no key", decoder{topic: topic}, captured{data: doc(grant)}, "RackDoc", "not verified: no key given", false},
		{"its key", decoder{topic: topic, keys: []publickey.Key{public(2), public(1)}}, captured{data: doc(grant)}, "RackDoc", "verified by key", false},
		{"the line's topic", decoder{topic: "x", keys: []publickey.Key{public(1)}}, captured{topic: topic, data: doc(grant)}, "RackDoc", "verified by key", false},
		{"another key", decoder{topic: topic, keys: []publickey.Key{public(2)}}, captured{data: doc(grant)}, "RackDoc", "none of those given", true},
		{"another topic", decoder{topic: message.TopicDown("rack-2", message.RackLeaf(0)), keys: []publickey.Key{public(1)}}, captured{data: doc(grant)}, "RackDoc", "signature is wrong", true},
		{"no topic", decoder{keys: []publickey.Key{public(1)}}, captured{data: doc(grant)}, "looks like RackDoc", "no topic given", true},
		{"a fact has but one topic", decoder{keys: []publickey.Key{public(1)}}, captured{data: grant}, "looks like Grant", "verified by key", false},
		{"a fact by another key", decoder{topic: topic, keys: []publickey.Key{public(1)}}, captured{data: doc(seal(t, 2, wire.FactGrant, message.Grant{}))}, "RackDoc", "none of those given", false},
		{"a fact of another kind", decoder{topic: topic, keys: []publickey.Key{public(1)}}, captured{data: doc(seal(t, 1, wire.FactReceipt, message.Grant{}))}, "RackDoc", "signature is wrong", true},
		{"not of ours", decoder{}, captured{data: seal(t, 1, "t", map[string]int{"x": 1})}, "", "no key given", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := row.d.decode(row.c)
			says := m.Verification
			for _, f := range m.facts {
				says += "; " + f.Verification
			}
			if m.Kind != row.kind || !strings.Contains(says, row.says) || (m.failure() != "") != row.fails || m.malformed() != "" {
				t.Errorf("%+v", m)
			}
			if m.Message == nil {
				t.Error("it is not shown")
			}
		})
	}
}

// What somebody put into a message reaches the terminal as text.
func TestDecodeEscapes(t *testing.T) {
	const rude = "\x1b]0;x\x07\u009b2J\x7f"
	for _, msg := range []any{
		message.Hello{Version: rude, Agent: "ä"},
		map[string]any{rude: rude},
		// A string where a number belongs: the error quotes nothing either.
		map[string]any{"eventHead": rude},
	} {
		for _, form := range []string{printer.FormYAML, printer.FormJSON} {
			var out bytes.Buffer
			err := showMessages(&printer.Printer{Out: &out}, form, decoder{topic: message.TopicUp("r", message.LeafHello)}, []captured{{data: seal(t, 1, "t", msg)}})
			text := out.String()
			if err != nil {
				text += err.Error()
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
				t.Errorf("%q", text[i:])
			}
			if !strings.Contains(text, "u009b") && err == nil {
				t.Errorf("it is not shown: %s", text)
			}
		}
	}
}

// Every vector is shown as the kind that it is, also without its topic.
func TestDecodeVectors(t *testing.T) {
	files, err := filepath.Glob("../../../../protocol/wire/testdata/v*/*.hex")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseCapture(text)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d messages, %v", file, len(got), err)
		}
		m := decoder{}.decode(got[0])
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".hex"), "-")
		want := map[string]string{
			"hold": "HoldDoc", "rack": "RackDoc", "event": "EventBatch", "end": "EndOfTerm", "key": "KeyStatement", "local": "LocalHolds", "hub": "HubHead",
		}[name]
		if want == "" {
			want = strings.ToUpper(name[:1]) + name[1:]
		}
		if m.Kind != "looks like "+want || m.Error != "" || m.Unknown != nil {
			t.Errorf("%s: %s, %s, %v", file, m.Kind, m.Error, m.Unknown)
		}
	}
}

// FuzzWireDecode feeds whatever is in a file.
func FuzzWireDecode(f *testing.F) {
	topic := message.TopicUp("rack-1", message.LeafReport)
	fact := seal(f, 1, wire.FactReceipt, resource.Receipt{HoldID: "h"})
	data := seal(f, 1, topic, message.Report{Agent: "rack-1", Servers: []resource.ServerReport{{Holds: []resource.HoldReport{{Receipt: fact}}}}})
	f.Add(data, topic, false)
	f.Add(data[:len(data)-1], "", false)
	f.Add([]byte(topic+" "+hex.EncodeToString(data)+"\n"), "", false)
	f.Add([]byte(base64.StdEncoding.EncodeToString(data)), topic, true)
	f.Add([]byte("{\"x\": 1}"), "#", true)
	f.Fuzz(func(t *testing.T, in []byte, topic string, asJSON bool) {
		messages, err := parseCapture(in)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
				t.Fatal(err)
			}
			return
		}
		form := printer.FormYAML
		if asJSON {
			form = printer.FormJSON
		}
		err = showMessages(&printer.Printer{Out: io.Discard}, form, decoder{topic: topic, keys: []publickey.Key{public(1)}}, messages)
		if c := protocol.CodeOf(err); err != nil && c != protocol.CodeInvalid && c != protocol.CodeDenied {
			t.Fatal(err)
		}
	})
}
