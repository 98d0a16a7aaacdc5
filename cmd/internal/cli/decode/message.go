package decode

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"rackboot/cmd/internal/cli/publickey"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// shownMessage is a message as it is printed.
type shownMessage struct {
	Line         int            `json:"line,omitempty"`
	Topic        string         `json:"topic,omitempty"`
	Kind         string         `json:"kind,omitempty"`
	Verification string         `json:"verification"`
	Envelope     shownEnvelope  `json:"envelope"`
	Error        string         `json:"error,omitempty"`
	Unknown      []string       `json:"unknownFields,omitempty"` // of the message's top level, to this version
	Message      map[string]any `json:"message,omitempty"`

	asked, verified bool
	facts           []*shownMessage
}

type shownEnvelope struct {
	KeyID      string `json:"keyId,omitempty"`
	Algorithm  string `json:"algorithm,omitempty"`
	Compressed bool   `json:"compressed"`
	Sealed     int    `json:"sealedBytes"`
	Packed     int    `json:"payloadBytes"`
	Unpacked   int    `json:"unpackedBytes"`
	Digest     string `json:"digest"`
}

// malformed says what is wrong with the form of the message or of a fact inside.
func (m *shownMessage) malformed() string {
	if m.Error != "" {
		return m.Error
	}
	for _, f := range m.facts {
		if f.Error != "" {
			return f.Kind + " inside: " + f.Error
		}
	}
	return ""
}

// failure says that a signature was to be verified and was not. Of a fact only a
// wrong one counts: its key may be another than the message's.
func (m *shownMessage) failure() string {
	if m.asked && !m.verified {
		return m.Verification
	}
	for _, f := range m.facts {
		if f.Verification == wrongSignature {
			return f.Kind + " inside: " + f.Verification
		}
	}
	return ""
}

const wrongSignature = "failed: the signature is wrong, or the message was sealed for another topic"

// decoder shows messages.
type decoder struct {
	topic string // of those that come without one
	keys  []publickey.Key
}

func (d decoder) decode(c captured) *shownMessage {
	m := d.open(cmp.Or(c.topic, d.topic), c.data)
	m.Line = c.line
	for key, topic := range map[string]string{"grant": wire.FactGrant, "provisioned": wire.FactProvisioned, "receipt": wire.FactReceipt} {
		d.openFacts(m, m.Message, key, topic)
	}
	return m
}

// open shows one message without what is sealed inside of it.
func (d decoder) open(topic string, data []byte) *shownMessage {
	e, err := wire.Inspect(data)
	kind, known := wire.KindOf(topic)
	m := &shownMessage{Topic: topic, Kind: kind.Name, asked: len(d.keys) > 0, Envelope: shownEnvelope{
		hex.EncodeToString(e.KeyID), e.Algorithm, e.Compressed, e.Sealed, e.Packed, e.Unpacked, e.Digest,
	}}
	if err != nil {
		m.Verification, m.Error = "not verified: the message is malformed", messageOf(err)
		return m
	}
	content, err := e.Content()
	if err != nil {
		m.Error = messageOf(err)
	}
	switch {
	case known:
		if err := e.Decode(kind.New()); err != nil && m.Error == "" {
			m.Error = messageOf(err)
		}
	case content != nil:
		if kind, known = looksLike(content); known {
			m.Kind = "looks like " + kind.Name
			m.Topic = cmp.Or(topic, kind.Topic) // some have but one
		}
	}
	if known {
		m.Unknown = unknownFields(kind, content)
	}
	m.Message, _ = printable(content).(map[string]any)
	m.Verification, m.verified = d.verify(e, m.Topic)
	return m
}

// messageOf is the text of an error without the name of the function. It may quote
// what is in the message, which must not reach a terminal as it is.
func messageOf(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		text = e.Message
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// verify says in words who signed.
func (d decoder) verify(e wire.Envelope, topic string) (string, bool) {
	if len(d.keys) == 0 {
		return "not verified: no key given", false
	}
	i := slices.IndexFunc(d.keys, func(k publickey.Key) bool { return bytes.Equal(wire.KeyID(k.Key), e.KeyID) })
	switch {
	case i < 0:
		return fmt.Sprintf("failed: the message names key %x, which is none of those given", e.KeyID), false
	case topic == "":
		return "not verified: no topic given", false
	case !e.SignedBy(topic, d.keys[i].Key):
		return wrongSignature, false
	}
	return fmt.Sprintf("verified by key %x (%s)", e.KeyID, d.keys[i].File), true
}

// openFacts puts in the place of sealed facts what is in them. Facts are not looked
// for in facts.
func (d decoder) openFacts(m *shownMessage, v any, key, topic string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			data, ok := inner.([]byte)
			if !ok || k != key {
				d.openFacts(m, inner, key, topic)
				continue
			}
			f := d.open(topic, data)
			v[k] = f
			m.facts = append(m.facts, f)
		}
	case []any:
		for _, inner := range v {
			d.openFacts(m, inner, key, topic)
		}
	}
}

// looksLike is the kind whose always present fields are all in the content, and of
// several the one that knows most of it.
func looksLike(content map[string]any) (best wire.Kind, ok bool) {
	fewest := len(content)
	for _, k := range wire.Kinds() {
		if missing(k, content) {
			continue
		}
		if n := len(unknownFields(k, content)); n < fewest {
			best, fewest, ok = k, n, true
		}
	}
	return best, ok
}

func missing(k wire.Kind, content map[string]any) bool {
	for name, always := range fieldNames(k) {
		if _, there := content[name]; always && !there {
			return true
		}
	}
	return false
}

func unknownFields(k wire.Kind, content map[string]any) (out []string) {
	known := fieldNames(k)
	for name := range content {
		if _, ok := known[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// fieldNames are the names of a kind's fields, and whether each is always sent.
func fieldNames(k wire.Kind) map[string]bool {
	names := map[string]bool{}
	for f := range reflect.TypeOf(k.New()).Elem().Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = opts == ""
	}
	return names
}

// printable replaces what JSON has no word for: a number that is none, or infinite.
func printable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = printable(v[k])
		}
	case []any:
		for i := range v {
			v[i] = printable(v[i])
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}
	return v
}
