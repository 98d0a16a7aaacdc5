package auditlog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// What checkpoints and ends are sealed for. They travel on no topic.
const (
	TopicCheckpoint = "rb/v1/fact/audit-checkpoint"
	TopicEnd        = "rb/v1/fact/audit-end"
	TopicSiteEnd    = "rb/v1/fact/audit-site-end"
)

// MaxOthers bounds the heads in a checkpoint: the hubs that share a store, but one.
const MaxOthers = 32

// Checkpoint is what the hub signs of an entry. Readers of releases before 0.2 see Seq and Hash, and pass the rest over.
type Checkpoint struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
	Known
}

// Known is what a hub that shares its store with others knows when it signs. It is empty of a hub that is alone.
type Known struct {
	Hub    string `json:"hub,omitempty"`    // whose log it is
	Others []Head `json:"others,omitempty"` // the ends of the other hubs' logs, by hub; at most MaxOthers
}

// Head is an entry of a hub's log, the last one at some time.
type Head struct {
	Hub  string `json:"hub"`
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// End is what the hub signs of an export, or of one log in it.
type End struct {
	Hub  string    `json:"hub,omitempty"`  // whose log it is, of several that share a store
	From uint64    `json:"from"`           // number of the first entry
	Prev string    `json:"prev,omitempty"` // Prev of the first entry
	Seq  uint64    `json:"seq"`            // number of the last entry
	Hash string    `json:"hash"`           // Hash of the last entry
	At   time.Time `json:"at"`             // when it was exported
}

// Sign fills Hash and Signed of an entry whose other fields are filled.
func Sign(s *wire.Signer, e *protocol.AuditEntry, known Known) error {
	e.Hash = e.Sum()
	var err error
	e.Signed, err = wire.Seal(s, TopicCheckpoint, Checkpoint{e.Seq, e.Hash, known})
	return err
}

const (
	endBefore     = `{"end":"`
	siteEndBefore = `{"site":"`
	endAfter      = `"}`
)

// EndLine is the last line of an export, or of one log in it, without the line's end.
func EndLine(s *wire.Signer, end End) ([]byte, error) { return sealedLine(s, endBefore, TopicEnd, end) }

func sealedLine(s *wire.Signer, before, topic string, msg any) ([]byte, error) {
	data, err := wire.Seal(s, topic, msg)
	if err != nil {
		return nil, err
	}
	return []byte(before + base64.StdEncoding.EncodeToString(data) + endAfter), nil
}

// sealedIn is the envelope of a line that begins so; nil if the line is no such line.
func sealedIn(line []byte, before string) []byte {
	text, ok := bytes.CutPrefix(line, []byte(before))
	text, ok2 := bytes.CutSuffix(text, []byte(endAfter))
	if !ok || !ok2 {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || base64.StdEncoding.EncodeToString(data) != string(text) {
		return nil
	}
	return data
}

// Keys are the public keys with which the hub signs, and signed before. It is safe for
// concurrent use.
type Keys struct {
	verifier *wire.Verifier
	ids      map[string]bool
}

// NewKeys makes Keys. Without a key nothing is believed.
func NewKeys(keys ...ed25519.PublicKey) *Keys {
	k := &Keys{wire.NewVerifier(keys...), map[string]bool{}}
	for _, key := range keys {
		k.ids[string(wire.KeyID(key))] = true
	}
	return k
}

// open verifies an envelope. The fault is empty if all is well.
func (k *Keys) open(topic string, data []byte, msg any) (Fault, string) {
	e, err := wire.Inspect(data)
	if err != nil {
		return Altered, "its signature cannot be read"
	}
	if !k.ids[string(e.KeyID)] {
		return Foreign, "it is signed by a key that was not given"
	}
	if err := wire.Open(k.verifier, topic, data, msg); err != nil {
		return Altered, "its signature does not fit"
	}
	return "", ""
}
