package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// signedAt serves one signature of an image as a registry does, and is its host.
func signedAt(t *testing.T, key *ecdsa.PrivateKey, image string) string {
	t.Helper()
	payload := `{"critical":{"identity":{"docker-reference":"r.example/os"},"image":{"docker-manifest-digest":"` + image + `"},"type":"cosign container image signature"},"optional":null}`
	sum := sha256.Sum256([]byte(payload))
	sig, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	blob := "sha256:" + hex.EncodeToString(sum[:])
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":1},"layers":[{"mediaType":"application/vnd.dev.cosign.simplesigning.v1+json","digest":%q,"size":%d,"annotations":{"dev.cosignproject.cosign/signature":%q}}]}`,
		blob, blob, len(payload), base64.StdEncoding.EncodeToString(sig))
	mux := http.NewServeMux()
	mux.HandleFunc("/v2/{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/v2/os/manifests/"+strings.Replace(image, ":", "-", 1)+".sig", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = w.Write([]byte(manifest))
	})
	mux.HandleFunc("/v2/os/blobs/"+blob, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(payload)) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// The keys of the hub's file prove images, by the registries of the hub's file.
func TestSigningKeys(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.pub")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	image := "sha256:" + strings.Repeat("a", 64)
	cfg := Images{Mirrors: map[string]string{"r.example": signedAt(t, key, image)}, SigningKeys: []SigningKey{{"release", file}}}
	imgs, err := newImages(cfg, secrets{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	by, err := imgs.Verify(t.Context(), "r.example/os@"+image, "release")
	if err != nil || by.Key != "release" || by.Scheme != resource.SignatureCosign || !imgs.Trusts(*by, "release") || imgs.Trusts(*by, "other") {
		t.Fatalf("%+v, %v", by, err)
	}
	if _, err := imgs.Verify(t.Context(), "r.example/os@sha256:"+strings.Repeat("b", 64), ""); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("an image that is not signed: %v", err)
	}
	cfg.SigningKeys = nil
	if imgs, err = newImages(cfg, secrets{}, nil, nil); err != nil || imgs.Trusts(*by, "") {
		t.Errorf("a proof counts without its key; %v", err)
	}
}
