package image

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"rackboot/protocol"
)

// Names of cosign (SIGNATURE_SPEC.md, simple signing).
const (
	typeSimpleSigning   = "application/vnd.dev.cosign.simplesigning.v1+json"
	annotationSignature = "dev.cosignproject.cosign/signature" // base64
	payloadType         = "cosign container image signature"
	signatureSuffix     = ".sig"
)

// The bounds of what a registry says. A signature of RSA-16384 has 2 KiB, a payload some
// hundred bytes.
const (
	maxSignatureDocument = 256 << 10 // bytes of any answer
	maxSignatureLayers   = 48
	maxSignaturePayload  = 64 << 10 // bytes
	maxSignatureText     = 8 << 10  // bytes of base64
	maxPrintable         = 255      // bytes that are kept of a text of somebody else
)

// signatureLayer is one signature, and where its payload is; or why it is none.
type signatureLayer struct {
	payload   v1.Descriptor
	signature []byte
	refused   *SignatureRefusal
}

// parseSignatures reads the manifest of signatures. Layers of other types are not looked at.
// One that is wrong does not spoil the others.
func parseSignatures(raw []byte) ([]signatureLayer, *SignatureRefusal) {
	if len(raw) > maxSignatureDocument {
		return nil, refuse(SignatureTooBig, "its manifest has more than %d bytes", maxSignatureDocument)
	}
	m, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, refuse(SignatureMalformed, "its manifest cannot be read: %s", printable(err.Error()))
	}
	if len(m.Layers) > maxSignatureLayers {
		return nil, refuse(SignatureTooBig, "its manifest has %d layers, more than %d", len(m.Layers), maxSignatureLayers)
	}
	var out []signatureLayer
	for _, l := range m.Layers {
		if string(l.MediaType) == typeSimpleSigning {
			out = append(out, parseSignature(l))
		}
	}
	if len(out) == 0 {
		return nil, refuse(SignatureNone, "its manifest has no layer of type %s", typeSimpleSigning)
	}
	return out, nil
}

func parseSignature(l v1.Descriptor) signatureLayer {
	out := signatureLayer{payload: l}
	text := l.Annotations[annotationSignature]
	var err error
	switch out.signature, err = base64.StdEncoding.DecodeString(text); {
	case len(text) > maxSignatureText:
		out.refused = refuse(SignatureTooBig, "it has more than %d bytes", maxSignatureText)
	case l.Size > maxSignaturePayload:
		out.refused = refuse(SignatureTooBig, "its payload has %d bytes, more than %d", l.Size, maxSignaturePayload)
	case l.Size <= 0 || l.Digest.Algorithm != "sha256":
		out.refused = refuse(SignatureMalformed, "its layer has digest %.100q and size %d", l.Digest, l.Size)
	case text == "" || err != nil:
		out.refused = refuse(SignatureMalformed, "annotation %s is no base64", annotationSignature)
	}
	return out
}

// payload is what is signed: which image, and what the signer says that it is called.
type payload struct{ digest, claimed string }

// parsePayload reads what is signed. It is read after its signature was verified.
func parsePayload(raw []byte) (payload, *SignatureRefusal) {
	var p struct {
		Critical struct {
			Identity struct {
				Reference string `json:"docker-reference"`
			} `json:"identity"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return payload{}, refuse(SignatureMalformed, "its payload is no JSON of simple signing")
	}
	c := p.Critical
	switch {
	case c.Type != payloadType:
		return payload{}, refuse(SignatureMalformed, "its payload is of type %.80q, not %q", c.Type, payloadType)
	case !protocol.ValidDigest(c.Image.Digest):
		return payload{}, refuse(SignatureMalformed, "its payload names %.80q, which is no digest", c.Image.Digest)
	}
	return payload{c.Image.Digest, printable(c.Identity.Reference)}, nil
}

// printable is a text that somebody else has chosen.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	if len(s) > maxPrintable {
		s = strings.ToValidUTF8(s[:maxPrintable], "")
	}
	return s
}
