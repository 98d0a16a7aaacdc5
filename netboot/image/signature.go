package image

import (
	"context"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// VerifySignature proves that one of the keys has signed the image: the key that is named,
// or with an empty name any. The reference is registry/repository@sha256:…, of a manifest or
// of an index, and the signature is of exactly that digest. It is looked for where cosign
// puts it, at the tag sha256-….sig of the same repository. Nothing of the image itself is
// fetched.
//
// Errors: those that wrap a [SignatureRefusal] are final until somebody changes something,
// with the code not_found (there is none) or invalid. Others are of the reference (invalid)
// or of the registry: not_found, denied, unavailable, timeout.
func VerifySignature(ctx context.Context, ref, key string, keys SigningKeys, opts Options) (*resource.ISOSignature, error) {
	const op = "check signature"
	pinned, err := name.NewDigest(ref, name.StrictValidation)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "image reference %q: %w", ref, err).WithHint("a signature is of a digest; write registry/repository@sha256:digest")
	}
	trusted := keys.named(key)
	switch {
	case len(keys) == 0:
		return nil, refuse(SignatureNotTrusted, "no key is trusted").failed(op, ref)
	case len(trusted) == 0:
		return nil, refuse(SignatureNotTrusted, "no key %q is trusted; those that are: %s", key, keys.names()).failed(op, ref)
	}
	reg, err := opts.open(ctx, op, pinned)
	if err != nil {
		return nil, err
	}
	defer reg.close()
	reg.guarded.limit = maxSignatureDocument
	algorithm, hex, _ := strings.Cut(pinned.DigestStr(), ":")
	tag := algorithm + "-" + hex + signatureSuffix
	got, err := reg.manifest(ctx, op, tag)
	switch {
	case refusal(err) != nil:
		return nil, refusal(err).failed(op, ref)
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return nil, refuse(SignatureNone, "its repository has no tag %s", tag).failed(op, ref)
	case err != nil:
		return nil, err
	}
	layers, refused := parseSignatures(got.Manifest)
	if refused != nil {
		return nil, refused.failed(op, ref)
	}
	var lost error // what could not be read, and may be the one
	for _, l := range layers {
		signed, why, err := reg.judge(ctx, op, l, pinned.DigestStr(), trusted)
		if signed != nil {
			return signed, nil
		}
		if refused = nearer(refused, why); err != nil && lost == nil {
			lost = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if lost != nil {
		return nil, lost
	}
	return nil, refused.failed(op, ref)
}

// judge looks at one signature: it proves the image, or says why not, or could not be read.
func (r *registry) judge(ctx context.Context, op string, l signatureLayer, digest string, keys SigningKeys) (*resource.ISOSignature, *SignatureRefusal, error) {
	if l.refused != nil {
		return nil, l.refused, nil
	}
	raw, err := r.payload(ctx, op, l.payload)
	switch {
	case refusal(err) != nil:
		return nil, refusal(err), nil
	case protocol.CodeOf(err) == protocol.CodeInvalid:
		return nil, refuse(SignatureMalformed, "its payload is not what its manifest says: %s", err), nil
	case err != nil:
		return nil, nil, err
	}
	by, p, refused := judge(raw, l.signature, digest, keys)
	if refused != nil {
		return nil, refused, nil
	}
	return &resource.ISOSignature{
		Scheme: resource.SignatureCosign, Key: by.Name, Fingerprint: by.Fingerprint, Claimed: p.claimed, Keyring: resource.KeyringHub,
	}, nil, nil
}

// judge says whose signature it is of an image. What the payload says counts only when it
// was signed by a trusted key.
func judge(raw, signature []byte, digest string, keys SigningKeys) (SigningKey, payload, *SignatureRefusal) {
	for _, k := range keys {
		if !k.signed(raw, signature) {
			continue
		}
		p, refused := parsePayload(raw)
		if refused != nil {
			return SigningKey{}, payload{}, refused
		}
		if p.digest != digest {
			return SigningKey{}, payload{}, refuse(SignatureOtherDigest, "it is by key %s, and of %s", k.Name, p.digest)
		}
		return k, p, nil
	}
	return SigningKey{}, payload{}, refuse(SignatureNotTrusted, "it is by none of these keys, or of other bytes: %s", keys.names())
}

// payload reads what is signed, no more than the layer's size, and compares its digest.
func (r *registry) payload(ctx context.Context, op string, d v1.Descriptor) ([]byte, error) {
	ref := r.repo.Digest(d.Digest.String())
	layer, err := r.puller.Layer(ctx, ref)
	if err != nil {
		return nil, r.failed(op, ref.String(), err)
	}
	body, err := layer.Compressed()
	if err != nil {
		return nil, r.failed(op, ref.String(), err)
	}
	defer body.Close()
	raw, err := io.ReadAll(newVerifier(body, resource.Artefact{Digest: d.Digest.String(), Size: d.Size}, r.host))
	if err != nil {
		return nil, r.failed(op, ref.String(), err)
	}
	return raw, nil
}
