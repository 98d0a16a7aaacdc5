package image

import (
	"errors"
	"fmt"
	"slices"

	"rackboot/protocol"
)

// SignatureClass says why an image is not proved by its signatures. The words are shown to
// people and compared by programs.
type SignatureClass string

// The classes, the nearest to a proof first: of several signatures that prove nothing, the
// one that is nearest says why.
const (
	SignatureOtherDigest SignatureClass = "OtherDigest"  // of a trusted key, and of another image
	SignatureNotTrusted  SignatureClass = "NoTrustedKey" // of none of the keys, or of other bytes
	SignatureMalformed   SignatureClass = "Malformed"    // it cannot be read
	SignatureTooBig      SignatureClass = "TooBig"       // beyond a bound
	SignatureNone        SignatureClass = "NoSignature"  // there is none
)

// signatureClasses lists the classes, in that order.
var signatureClasses = []SignatureClass{SignatureOtherDigest, SignatureNotTrusted, SignatureMalformed, SignatureTooBig, SignatureNone}

// SignatureRefusal is why an image is not proved. Errors of [VerifySignature] wrap it, so
// that errors.As finds it; those of the network and of the registry do not.
type SignatureRefusal struct {
	Class   SignatureClass
	Message string
}

// Error is the class and the sentence.
func (r *SignatureRefusal) Error() string { return string(r.Class) + ": " + r.Message }

func refuse(c SignatureClass, format string, args ...any) *SignatureRefusal {
	return &SignatureRefusal{Class: c, Message: fmt.Sprintf(format, args...)}
}

// nearer is the refusal that is nearer to a proof; nil is none.
func nearer(a, b *SignatureRefusal) *SignatureRefusal {
	if a == nil || b != nil && slices.Index(signatureClasses, b.Class) < slices.Index(signatureClasses, a.Class) {
		return b
	}
	return a
}

// failed gives a refusal its code, and says what to do.
func (r *SignatureRefusal) failed(op, ref string) error {
	code, hint := protocol.CodeInvalid, "sign the image anew with cosign (docs/guide/catalogue.md)"
	switch r.Class {
	case SignatureNone:
		code, hint = protocol.CodeNotFound, "sign "+ref+" with cosign, into its own repository and not as a bundle; of an index, cosign sign --recursive signs what each architecture boots"
	case SignatureNotTrusted:
		hint = "compare the fingerprint of the signer's public key with its owner's, and add it to images.signingKeys of the hub's file"
	case SignatureOtherDigest:
		hint = "somebody has put the signature of another image there: look at who writes to the registry, and sign " + ref
	case SignatureMalformed, SignatureTooBig:
	}
	return protocol.Errorf(code, op, "signature of %s: %w", ref, r).WithHint("%s", hint)
}

// refusal is the one that an error wraps; nil if it wraps none.
func refusal(err error) *SignatureRefusal {
	r, _ := errors.AsType[*SignatureRefusal](err)
	return r
}
