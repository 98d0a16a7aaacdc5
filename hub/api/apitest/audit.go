package apitest

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/audit"
	"rackboot/protocol/wire"
)

// openAudit begins an audit log that is signed by a key of the test.
func (h *Hub) openAudit(t testing.TB) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	h.AuditKey, h.AuditDir = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), t.TempDir()
	h.Audit, err = audit.Open(audit.Config{
		Dir: h.AuditDir, Signer: wire.NewSigner(key), Clock: Now, Registerer: prometheus.NewRegistry(), SegmentBytes: 2 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Audit.Close(); err != nil {
			t.Error(err)
		}
	})
}
