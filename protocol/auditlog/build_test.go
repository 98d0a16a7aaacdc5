package auditlog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

func signer(name string) *wire.Signer {
	seed := sha256.Sum256([]byte(name))
	return wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
}

func hubKeys() *Keys { return NewKeys(signer("hub").Public()) }

func at() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// built is a log of n entries, segments of 5 and a checkpoint at each fourth entry.
func built(t testing.TB, n int, who string) []protocol.AuditEntry {
	t.Helper()
	s := signer("hub")
	var out []protocol.AuditEntry
	prev := ""
	for i := range n {
		e := protocol.AuditEntry{Seq: uint64(i + 1), At: at().Add(time.Duration(i) * time.Second), Caller: who, Op: "hold", Target: fmt.Sprintf("Server/n%d", i), Outcome: protocol.AuditAsked, Prev: prev}
		switch {
		case i%5 == 0:
			e.Op = protocol.AuditOpSegment
		case i%4 == 3:
			e.Op = protocol.AuditOpCheckpoint
		}
		e.Hash = e.Sum()
		if protocol.AuditOwn(e.Op) {
			if err := Sign(s, &e, Known{}); err != nil {
				t.Fatal(err)
			}
		}
		prev = e.Hash
		out = append(out, e)
	}
	return out
}

// exported are the lines of an export, each with its end.
func exported(t testing.TB, log []protocol.AuditEntry) [][]byte {
	t.Helper()
	first, last := log[0], log[len(log)-1]
	end, err := EndLine(signer("hub"), End{From: first.Seq, Prev: first.Prev, Seq: last.Seq, Hash: last.Hash, At: at()})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, e := range log {
		out = append(out, append(e.Line(), '\n'))
	}
	return append(out, append(end, '\n'))
}

func joined(lines [][]byte) []byte { return slices.Concat(lines...) }

func verify(data []byte) (Report, error) { return verifyBy(hubKeys(), data) }

func verifyBy(keys *Keys, data []byte) (Report, error) {
	return Verify(bytes.NewReader(data), keys, nil)
}

// rehashed gives each entry the hash and prev that it must have, as anybody can; what
// was signed stays.
func rehashed(log []protocol.AuditEntry) []protocol.AuditEntry {
	log = slices.Clone(log)
	for i := range log {
		if i > 0 {
			log[i].Prev = log[i-1].Hash
		}
		log[i].Hash = log[i].Sum()
	}
	return log
}
