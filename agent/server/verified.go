package server

import (
	"bytes"

	"rackboot/protocol/wire"
)

// verified is a signed fact that was verified last. Each step looks at the server's grant, which stays the same for months: the same bytes
// by the same keys are verified once. by says which keys they are. It is the steps'.
type verified[K comparable, T any] struct {
	by  K
	raw []byte // nil: none was verified
	of  T
	err error
}

// open is wire.Open, with keys only called where something is to be verified. Nobody changes what the fact refers to.
func (m *verified[K, T]) open(by K, keys func() *wire.Verifier, fact string, raw []byte) (T, error) {
	if m.raw == nil || m.by != by || !bytes.Equal(m.raw, raw) {
		var of T
		m.err = wire.Open(keys(), fact, raw, &of)
		m.by, m.raw, m.of = by, bytes.Clone(raw), of
	}
	return m.of, m.err
}
