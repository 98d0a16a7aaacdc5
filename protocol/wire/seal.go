package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/veraison/go-cose"

	"rackboot/protocol"
)

// The caps, in bytes.
const (
	// MaxMessage is the largest sealed message; brokers are set up for it.
	MaxMessage = 128 << 10
	// MaxUnpacked is the largest message before compression.
	MaxUnpacked = 1 << 20
	// CompressAbove is the size from which on a message is compressed.
	CompressAbove = 2 << 10
)

// The topics of facts that are stored and carried inside of other messages
// instead of being sent by themselves.
const (
	FactGrant       = "rb/v1/fact/grant"       // message.Grant, signed by the hub
	FactProvisioned = "rb/v1/fact/provisioned" // resource.Provisioned, signed by the agent
	FactReceipt     = "rb/v1/fact/receipt"     // resource.Receipt, signed by the agent
	FactApproval    = "rb/v1/fact/approval"    // resource.Approval, signed by the destructive key
	FactEndOfTerm   = "rb/v1/fact/end-of-term" // message.EndOfTerm, signed by the hub
	FactHubHead     = "rb/v1/fact/hub-head"    // message.HubHead, signed by the hub
	FactKey         = "rb/v1/fact/key"         // message.KeyStatement, signed by the hub's key before it
	FactRenewal     = "rb/v1/fact/renewal"     // message.Renewal, signed by the agent
	FactBeat        = "rb/v1/fact/beat"        // message.Beat, signed by the agent
	FactLocalHolds  = "rb/v1/fact/local-holds" // message.LocalHolds, signed by the agent
)

// Seal encodes and signs msg for the topic. The same input gives the same
// bytes. Errors: invalid if msg cannot be encoded, if it is larger than
// [MaxUnpacked] or its sealed form than [MaxMessage], or if the key is unusable.
func Seal(s *Signer, topic string, msg any) ([]byte, error) {
	const op = "wire.Seal"
	if s == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no signing key for topic %s", topic).
			WithHint("load the Ed25519 private key before signing")
	}
	if s.err != nil {
		return nil, s.err
	}
	payload, err := s.codec.enc.Marshal(msg)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "cannot encode %T for topic %s: %w", msg, topic, err)
	}
	if len(payload) > MaxUnpacked {
		return nil, tooLarge(op, topic, "is", len(payload), MaxUnpacked)
	}
	packed := len(payload) > CompressAbove
	if packed {
		payload = s.pack.EncodeAll(payload, nil)
	}
	headers := cose.Headers{Protected: protectedHeader(s.keyID, packed), Unprotected: cose.UnprotectedHeader{}}
	data, err := cose.Sign1(nil, s.cose, headers, payload, []byte(topic))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot sign for topic %s: %w", topic, err)
	}
	if len(data) > MaxMessage {
		return nil, tooLarge(op, topic, "is sealed", len(data), MaxMessage)
	}
	return data, nil
}

func tooLarge(op, topic, what string, size, limit int) error {
	return protocol.Errorf(protocol.CodeInvalid, op, "message for topic %s %s %d bytes large, the limit is %d", topic, what, size, limit).
		WithHint("split it into smaller shards or batches")
}

// Digest names sealed bytes: sha256:<hex>.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
