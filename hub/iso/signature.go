package iso

import (
	"context"
	"io"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Verifier reads the keys of [resource.SignatureOpenPGP].
type Verifier interface {
	// Keys reads public keys, binary or armored. The code of an error is invalid.
	Keys(keyring []byte) (Keys, error)
}

// Keys check detached signatures, binary or armored.
type Keys interface {
	// Known looks at a signature without its content. The code of an error is invalid if it
	// is none, and denied if it is of none of the keys, which it names.
	Known(signature []byte) error
	// Check reads all of content, and returns the fingerprint of the key that has signed it,
	// in upper-case hex digits, and its owner's name, which is printable.
	Check(content io.Reader, signature []byte, now time.Time) (fingerprint, by string, err error)
}

// keyringVerdict is by whose keys an upload is judged.
type keyringVerdict string

const (
	unsigned     keyringVerdict = "unsigned"
	byHub        keyringVerdict = "hub's keys"
	byCaller     keyringVerdict = "caller's keys"
	mustBeSigned keyringVerdict = "refused: must be signed"
	nothingToDo  keyringVerdict = "refused: keys without a signature"
	hubsAlone    keyringVerdict = "refused: the hub's keys alone count"
	nobodysKeys  keyringVerdict = "refused: no keys"
)

// keyringRule says by whose keys an upload is judged. Where the hub has keys, nobody
// brings others: whoever may upload could else sign it himself. The first row that fits
// decides.
//
//	signature | hub has keys | caller has keys | required | outcome
//	no        | *            | yes             | *        | refused: keys without a signature
//	no        | *            | no              | yes      | refused: must be signed
//	no        | *            | no              | no       | unsigned
//	yes       | yes          | yes             | *        | refused: the hub's keys alone count
//	yes       | yes          | no              | *        | hub's keys
//	yes       | no           | yes             | *        | caller's keys
//	yes       | no           | no              | *        | refused: no keys
func keyringRule(signature, hub, caller, required bool) keyringVerdict {
	switch {
	case !signature && caller:
		return nothingToDo
	case !signature && required:
		return mustBeSigned
	case !signature:
		return unsigned
	case hub && caller:
		return hubsAlone
	case hub:
		return byHub
	case caller:
		return byCaller
	}
	return nobodysKeys
}

// judges are the keys that a signature is checked with.
type judges struct {
	Keys
	owner resource.KeyringOwner
}

// signed reads what an upload says of a signature, as far as that is possible without the
// content; nil for none. The codes are invalid, denied and unsupported.
func (s *Shelf) signed(r protoapi.ISOUploadRequest) (*judges, error) {
	const op = "check signature"
	out := &judges{s.keys, resource.KeyringHub}
	switch keyringRule(len(r.Signature) > 0, s.keys != nil, len(r.Keyring) > 0, s.cfg.RequireSignature) {
	case unsigned:
		return nil, nil
	case byHub:
	case byCaller:
		if s.cfg.Verifier == nil {
			return nil, protocol.Errorf(protocol.CodeUnsupported, op, "this hub cannot check signatures").
				WithHint("check it yourself, and upload the file without --signature")
		}
		keys, err := s.cfg.Verifier.Keys(r.Keyring)
		if err != nil {
			return nil, err
		}
		out = &judges{keys, resource.KeyringCaller}
	case mustBeSigned:
		return nil, protocol.Errorf(protocol.CodeDenied, op, "this hub takes signed files only").WithHint("give the detached signature of %s with --signature", r.File)
	case nothingToDo:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "there are keys and no signature").WithHint("give the detached signature with --signature")
	case hubsAlone:
		return nil, protocol.Errorf(protocol.CodeDenied, op, "this hub has keys of its own, and takes no others").WithHint("leave --keyring out")
	case nobodysKeys:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "there are no keys to check the signature with").
			WithHint("give the keys that it may be of with --keyring, or have them put into isos.keyring of the hub's file")
	}
	return out, out.Known(r.Signature)
}

// verify checks the signature of a content that is whole; nil for none.
func (s *Shelf) verify(ctx context.Context, op string, u *upload) (*resource.ISOSignature, error) {
	by, err := s.signed(u.ISOUploadRequest)
	if err != nil {
		return nil, refuse(err) // the hub's keys are others now
	}
	if by == nil {
		return nil, nil
	}
	file, _, err := s.blobs.Open(u.Digest)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, refuse(protocol.Errorf(protocol.CodeConflict, op, "%s is there only as it was packed again, and a signature is of the compressed file", u.File).
			WithHint("remove the other names of it, wait %s, and upload it anew", 2*collectAfter))
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := &resource.ISOSignature{Scheme: u.Scheme, Keyring: by.owner}
	out.Key, out.By, err = by.Check(until{ctx, file}, u.Signature, s.cfg.Clock())
	switch {
	case ctx.Err() != nil:
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "the signature of %s was not checked in time: %w", u.File, ctx.Err()).WithHint("finish it again")
	case err != nil:
		return nil, refuse(protocol.Errorf(protocol.CodeInvalid, op, "the signature does not fit %s: %w", u.File, err).
			WithHint("it is of another file, or the file was changed; nothing of it is kept"))
	}
	return out, nil
}

// until ends with its context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}
