package wire

import (
	"testing"

	"rackboot/protocol/message"
)

// benchmarks are the messages that there are most of, and the largest one.
func benchmarks() map[string]any {
	return map[string]any{"Hello": hello(), "Sync": syncAnswer(), "RackDoc50": rackDoc(0, 50)}
}

// BenchmarkSeal seals; bytes is the sealed size.
func BenchmarkSeal(b *testing.B) {
	s := NewSigner(testKey(0))
	for name, msg := range benchmarks() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var size int
			for b.Loop() {
				data, err := Seal(s, "t", msg)
				if err != nil {
					b.Fatal(err)
				}
				size = len(data)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// BenchmarkOpen verifies and decodes.
func BenchmarkOpen(b *testing.B) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	for name, msg := range benchmarks() {
		data, err := Seal(s, "t", msg)
		if err != nil {
			b.Fatal(err)
		}
		empty := map[string]func() any{
			"Hello":     func() any { return new(message.Hello) },
			"Sync":      func() any { return new(message.Sync) },
			"RackDoc50": func() any { return new(message.RackDoc) },
		}[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Open(v, "t", data, empty()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
