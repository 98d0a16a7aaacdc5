// Package wire turns what package message names into signed bytes and back.
//
// A sealed message is a tagged COSE_Sign1 (RFC 9052 §4.2) with one signature
// by Ed25519 (alg EdDSA, -8). From the outside in:
//
//	18([ protected, {}, payload, signature ])
//
//	protected    {1: -8, 3: 60, 4: kid}            plain
//	             {1: -8, 2: [-70001], 3: 60, 4: kid, -70001: 1}  compressed
//	payload      deterministic CBOR of the message (RFC 8949 §4.2.1), above
//	             [CompressAbove] bytes as one zstd frame (RFC 8878)
//	external_aad the topic, or one of the Fact constants
//
// Label 3 is the content type, 60 is application/cbor in the CoAP registry.
// Label -70001 is private use and listed as critical (label 2), so that another
// reader refuses a compressed payload instead of misreading it. kid is [KeyID].
//
// The topic is signed but not carried: a broker that delivers a message under
// another topic, or to another agent, makes its signature wrong.
//
// Messages are encoded by their json tags. A time is text in UTC with
// nanoseconds (RFC 3339), the zero time is null, and what has MarshalText is
// text. Text is not checked for valid UTF-8 when it is read, because one broken
// string from a BMC must not hide the whole report of a rack.
//
// The same message, topic and key give the same bytes. [Open] also refuses an
// envelope in any other form than [Seal] gives it, so that bytes and [Digest]
// of a message cannot be changed without its key.
package wire
