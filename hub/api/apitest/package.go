package apitest

import (
	"bytes"
	"crypto/ed25519"
	"io"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/wire"
)

// Publisher is the key of the packages that a [Hub] takes.
func Publisher() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
}

// Package is the file of a package of agents, signed by a key, and the signed manifest.
func Package(t testing.TB, key ed25519.PrivateKey, version string, programs map[string][]byte) (file, signed []byte) {
	t.Helper()
	m := agentpackage.Manifest{Version: version, Protocol: protocol.Version, MadeAt: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	for _, arch := range []string{"amd64", "arm64"} {
		if p, ok := programs[arch]; ok {
			m.Binaries = append(m.Binaries, agentpackage.Binary{Architecture: arch, SHA256: wire.Digest(p), Size: int64(len(p))})
		}
	}
	signed, err := agentpackage.Sign(m, key)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := agentpackage.Write(&out, signed, func(b agentpackage.Binary) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(programs[b.Architecture])), nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), signed
}
