package image

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// signWith signs as cosign does: SHA-256, or what the options say.
func signWith(t testing.TB, key crypto.Signer, payload []byte, opts crypto.SignerOpts) []byte {
	t.Helper()
	message := payload
	switch opts.HashFunc() {
	case crypto.SHA256:
		sum := sha256.Sum256(payload)
		message = sum[:]
	case crypto.SHA384:
		sum := sha512.Sum384(payload)
		message = sum[:]
	case crypto.SHA512:
		sum := sha512.Sum512(payload)
		message = sum[:]
	default: // what is signed is not hashed before
	}
	sig, err := key.Sign(rand.Reader, message, opts)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func ecKey(t testing.TB, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func rsaKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func edKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func trusted(t testing.TB, name string, key crypto.Signer) SigningKey {
	t.Helper()
	k, err := ParseSigningKey(name, publicPEM(t, key.Public()))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// says is the payload of simple signing.
func says(digest string) []byte {
	return []byte(`{"critical":{"identity":{"docker-reference":"r.example/os"},"image":{"docker-manifest-digest":"` + digest + `"},"type":"cosign container image signature"},"optional":null}`)
}

// signature pushes a payload and is the layer of its signature.
func (r *testRegistry) signature(payload, signature []byte) v1.Descriptor {
	r.t.Helper()
	d := r.blob(typeSimpleSigning, string(payload))
	d.Annotations = map[string]string{annotationSignature: base64.StdEncoding.EncodeToString(signature)}
	return d
}

func sigTag(d v1.Descriptor) string { return "sha256-" + d.Digest.Hex + ".sig" }

// Each key proves an image by what cosign writes, also one that is an index.
func TestVerifySignature(t *testing.T) {
	p256, p384, ed, r2048 := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384()), edKey(t), rsaKey(t, 2048)
	for name, row := range map[string]struct {
		key  crypto.Signer
		opts crypto.SignerOpts
	}{
		"P-256":              {p256, crypto.SHA256},
		"P-384":              {p384, crypto.SHA256},
		"P-384 with SHA-384": {p384, crypto.SHA384},
		"Ed25519":            {ed, crypto.Hash(0)},
		"Ed25519ph":          {ed, &ed25519.Options{Hash: crypto.SHA512}},
		"RSA-2048":           {r2048, crypto.SHA256},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			img := r.image("x", r.blob(typeUKI, "uki"))
			list := r.push("list", index(types.OCIImageIndex, on(img, "linux", "amd64")), types.OCIImageIndex)
			keys := SigningKeys{trusted(t, "other", ecKey(t, elliptic.P256())), trusted(t, "release", row.key)}
			for _, d := range []v1.Descriptor{img, list} {
				payload := says(d.Digest.String())
				// Beside it lie what another signs, and what is no signature.
				r.image(sigTag(d), r.signature(payload, []byte("x")), r.blob("text/plain", "note"), r.signature(payload, signWith(t, row.key, payload, row.opts)))
				got, err := VerifySignature(t.Context(), r.digestRef(d), "", keys, Options{})
				want := resource.ISOSignature{Scheme: resource.SignatureCosign, Key: "release", Fingerprint: keys[1].Fingerprint, Claimed: "r.example/os", Keyring: resource.KeyringHub}
				if err != nil || *got != want {
					t.Fatalf("%+v, %v", got, err)
				}
				if !keys.Trusts(*got, "") || !keys.Trusts(*got, "release") || keys.Trusts(*got, "other") || keys[:1].Trusts(*got, "") {
					t.Error("whom the proof counts for")
				}
			}
			if again := (SigningKeys{trusted(t, "release", edKey(t))}); again.Trusts(want(t, r, img, keys), "release") {
				t.Error("another key of the name counts")
			}
		})
	}
}

func want(t *testing.T, r *testRegistry, d v1.Descriptor, keys SigningKeys) resource.ISOSignature {
	t.Helper()
	got, err := VerifySignature(t.Context(), r.digestRef(d), "release", keys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

// What proves nothing is refused with its class, and nothing is read beyond the bounds.
func TestSignatureRefused(t *testing.T) {
	ours, theirs := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P256())
	keys := SigningKeys{trusted(t, "release", ours), trusted(t, "spare", edKey(t))}
	other := "sha256:" + strings.Repeat("e", 64)
	by := func(key crypto.Signer, payload []byte) []byte { return signWith(t, key, payload, crypto.SHA256) }
	signed := func(r *testRegistry, payload []byte) v1.Descriptor { return r.signature(payload, by(ours, payload)) }
	many := make([]v1.Descriptor, maxSignatureLayers+1)
	for name, row := range map[string]struct {
		push  func(r *testRegistry, d v1.Descriptor)
		key   string
		class SignatureClass
		text  string
	}{
		"no tag":        {func(*testRegistry, v1.Descriptor) {}, "", SignatureNone, ".sig"},
		"no such layer": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), r.blob("text/plain", "x")) }, "", SignatureNone, "has no layer"},
		"a bundle of cosign 3": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), r.blob("application/vnd.dev.sigstore.bundle.v0.3+json", "{}"))
		}, "", SignatureNone, "has no layer"},
		"a key that is not ours": {func(r *testRegistry, d v1.Descriptor) {
			p := says(d.Digest.String())
			r.image(sigTag(d), r.signature(p, by(theirs, p)))
		}, "", SignatureNotTrusted, "release, spare"},
		"another key of ours": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), signed(r, says(d.Digest.String()))) }, "spare", SignatureNotTrusted, "spare"},
		"a name that is none": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), signed(r, says(d.Digest.String()))) }, "gone", SignatureNotTrusted, `no key "gone"`},
		"an altered payload": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), r.signature(says(d.Digest.String()), by(ours, says(other))))
		}, "", SignatureNotTrusted, "other bytes"},
		"another image's": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), signed(r, says(other))) }, "", SignatureOtherDigest, other},
		"the nearest of several": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), r.signature(says(d.Digest.String()), []byte("x")), signed(r, says(other)), r.signature([]byte("{"), []byte("x")))
		}, "", SignatureOtherDigest, other},
		"another type": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), signed(r, []byte(strings.Replace(string(says(d.Digest.String())), payloadType, "atomic container signature", 1))))
		}, "", SignatureMalformed, "of type"},
		"a payload that is no JSON": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), signed(r, append(says(d.Digest.String()), '{')))
		}, "", SignatureMalformed, "no JSON"},
		"a digest that is none": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), signed(r, says("sha256:E3"))) }, "", SignatureMalformed, "no digest"},
		"no base64": {func(r *testRegistry, d v1.Descriptor) {
			l := signed(r, says("x"))
			l.Annotations[annotationSignature] = "?"
			r.image(sigTag(d), l)
		}, "", SignatureMalformed, "no base64"},
		"no annotation": {func(r *testRegistry, d v1.Descriptor) { r.image(sigTag(d), r.blob(typeSimpleSigning, "x")) }, "", SignatureMalformed, "no base64"},
		"a size that is not so": {func(r *testRegistry, d v1.Descriptor) {
			l := signed(r, says(d.Digest.String()))
			l.Size--
			r.image(sigTag(d), l)
		}, "", SignatureMalformed, "not what its manifest says"},
		"a size of nothing":       {func(r *testRegistry, d v1.Descriptor) { l := signed(r, says("x")); l.Size = 0; r.image(sigTag(d), l) }, "", SignatureMalformed, "size 0"},
		"a manifest that is none": {func(r *testRegistry, d v1.Descriptor) { r.push(sigTag(d), "x", types.OCIManifestSchema1) }, "", SignatureMalformed, "cannot be read"},
		"a payload of 64 KiB and 1": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), signed(r, make([]byte, maxSignaturePayload+1)))
		}, "", SignatureTooBig, "65537 bytes"},
		"a long signature": {func(r *testRegistry, d v1.Descriptor) {
			r.image(sigTag(d), r.signature(says("x"), make([]byte, maxSignatureText)))
		}, "", SignatureTooBig, "8192 bytes"},
		"many layers": {func(r *testRegistry, d v1.Descriptor) {
			l := r.blob("text/plain", "x")
			for i := range many {
				many[i] = l
			}
			r.image(sigTag(d), many...)
		}, "", SignatureTooBig, "49 layers"},
		"a manifest of megabytes": {func(r *testRegistry, d v1.Descriptor) {
			m := manifest(r.blob("text/plain", "x"))
			m.Annotations = map[string]string{"x": strings.Repeat("x", 1<<20)}
			r.push(sigTag(d), m, types.OCIManifestSchema1)
		}, "", SignatureTooBig, "answers with more than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			img := r.image("x", r.blob(typeUKI, "uki"))
			row.push(r, img)
			got, err := VerifySignature(t.Context(), r.digestRef(img), row.key, keys, Options{})
			code := protocol.CodeInvalid
			if row.class == SignatureNone {
				code = protocol.CodeNotFound
			}
			if why := refusal(err); got != nil || why == nil || why.Class != row.class || !strings.Contains(err.Error(), row.text) || protocol.CodeOf(err) != code || protocol.HintOf(err) == "" {
				t.Errorf("%+v, %v (%s)", got, err, protocol.HintOf(err))
			}
		})
	}
}

// A registry that lies about the payload, sends without end or is away proves nothing; that
// it is away is no refusal, so that it is asked again.
func TestSignatureRegistry(t *testing.T) {
	key := ecKey(t, elliptic.P256())
	keys := SigningKeys{trusted(t, "release", key)}
	r := newRegistry(t)
	img := r.image("x", r.blob(typeUKI, "uki"))
	good := says(img.Digest.String())
	layer := r.signature(good, signWith(t, key, good, crypto.SHA256))
	r.image(sigTag(img), layer)
	verify := func() (*resource.ISOSignature, error) {
		return VerifySignature(t.Context(), r.digestRef(img), "", keys, patient())
	}
	blob := func(answer func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, layer.Digest.String()) {
				return false
			}
			answer(w)
			return true
		}
	}
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter)
		class  SignatureClass
		code   protocol.Code
	}{
		"other bytes":  {func(w http.ResponseWriter) { _, _ = w.Write([]byte(strings.Repeat("x", int(layer.Size)))) }, SignatureMalformed, protocol.CodeInvalid},
		"without end":  {func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 1<<20)) }, SignatureMalformed, protocol.CodeInvalid},
		"out of order": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "", protocol.CodeUnavailable},
		"not there":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, "", protocol.CodeNotFound},
	} {
		r.misbehave(blob(row.answer))
		got, err := verify()
		why := refusal(err)
		if got != nil || protocol.CodeOf(err) != row.code || (why == nil) != (row.class == "") || why != nil && why.Class != row.class {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	r.misbehave(nil)
	if _, err := verify(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := VerifySignature(ctx, r.digestRef(img), "", keys, Options{}); protocol.CodeOf(err) != protocol.CodeUnavailable || refusal(err) != nil {
		t.Errorf("cancelled: %v", err)
	}
	before := r.hits
	for ref, with := range map[string]SigningKeys{r.digestRef(img): nil, r.ref("x"): keys} {
		if _, err := VerifySignature(t.Context(), ref, "", with, Options{}); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if r.hits != before {
		t.Error("the registry was asked for nothing")
	}
	if _, err := VerifySignature(t.Context(), r.digestRef(img), "", keys, Options{Allow: []string{"registry.example"}}); err == nil || refusal(err) != nil {
		t.Errorf("a registry that is not allowed: %v", err)
	}
}

// FuzzSignature: whatever a registry says is read within the bounds, and proves nothing
// without the key.
func FuzzSignature(f *testing.F) {
	key := ecKey(f, elliptic.P256())
	digest := "sha256:" + strings.Repeat("a", 64)
	keys := SigningKeys{trusted(f, "release", key)}
	good := says(digest)
	layer := descriptor(f, typeSimpleSigning, good)
	layer.Annotations = map[string]string{annotationSignature: base64.StdEncoding.EncodeToString(signWith(f, ecKey(f, elliptic.P256()), good, crypto.SHA256))}
	raw, err := json.Marshal(manifest(layer, layer))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, good)
	f.Add([]byte(`{"layers":[{"mediaType":"`+typeSimpleSigning+`","size":1,"digest":"sha256:1"}]}`), []byte(`{"critical":null}`))
	f.Add([]byte(`{"layers":[{"digest":"`+strings.Repeat("x", 1000)+`"}]}`), []byte("{}"))
	f.Add([]byte("null"), []byte(`{"Critical":{"Image":{"Docker-manifest-digest":"x"}}}`))
	f.Fuzz(func(t *testing.T, raw, body []byte) {
		layers, refused := parseSignatures(raw)
		if refused != nil && len(refused.Error()) > 2*maxPrintable {
			t.Errorf("%d bytes of a refusal", len(refused.Error()))
		}
		if (refused == nil) != (len(layers) > 0) || len(layers) > maxSignatureLayers {
			t.Errorf("%d layers, %v", len(layers), refused)
		}
		for _, l := range layers {
			if l.refused == nil && (len(l.signature) == 0 || l.payload.Size <= 0 || l.payload.Size > maxSignaturePayload) {
				t.Errorf("%+v", l)
			}
			if _, _, why := judge(body, l.signature, digest, keys); why == nil {
				t.Error("it is proved")
			}
		}
		if p, why := parsePayload(body); why == nil && (!protocol.ValidDigest(p.digest) || len(p.claimed) > maxPrintable) {
			t.Errorf("%+v", p)
		}
	})
}
