package wire

import (
	"testing"

	"rackboot/protocol"
)

// BenchmarkSeal seals a full shard; bytes is the sealed size.
func BenchmarkSeal(b *testing.B) {
	s := NewSigner(testKey(0))
	doc := rackDoc(50)
	b.ReportAllocs()
	var size int
	for b.Loop() {
		data, err := Seal(s, "t", doc)
		if err != nil {
			b.Fatal(err)
		}
		size = len(data)
	}
	b.ReportMetric(float64(size), "bytes")
}

// BenchmarkOpen opens a full shard.
func BenchmarkOpen(b *testing.B) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	data, err := Seal(s, "t", rackDoc(50))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var doc protocol.RackDoc
		if err := Open(v, "t", data, &doc); err != nil {
			b.Fatal(err)
		}
	}
}
