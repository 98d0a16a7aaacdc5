package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"rackboot/state"
)

// keyHead is where the head is.
const keyHead = "meta/head"

// Head says what the database has. It is written in every transaction whose keys it counts, so
// that the two never differ but by damage. Writers take turns: it makes nobody wait.
type Head struct {
	// Store is the database's incarnation.
	Store string `json:"store,omitempty"`
	// Sequence is how many transactions there were.
	Sequence uint64 `json:"sequence"`
	// Kinds are by the first part of the keys.
	Kinds map[string]Sum `json:"kinds,omitempty"`
}

// Sum is what keys and their values come to.
type Sum struct {
	Count  uint64 `json:"count"`
	Digest Digest `json:"digest"`
}

// Digest is the first half of the SHA-256 of each key with its value, put together by exclusive
// or: it is the same in whatever order they were written. It is for damage, not for forgers.
type Digest [16]byte

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// uncounted are the keys that no head counts: what other writers write (leases, sessions, the
// probe), what no promise rests on (traces, what images reported), and the head.
//
//	lease/, lease6/, session/, trace/, image/, meta/probe, meta/head
func uncounted(key string) bool {
	switch kind, _, _ := strings.Cut(key, "/"); kind {
	case "lease", "lease6", "session", "trace", "image":
		return true
	}
	return key == keyHead || key == probeKey
}

// kindOf is the kind of a key.
func kindOf(key string) string {
	kind, _, _ := strings.Cut(key, "/")
	return kind
}

// count counts a value in, or out again. Nil is none.
func (h *Head) count(key string, value []byte, by int) {
	if value == nil {
		return
	}
	if h.Kinds == nil {
		h.Kinds = map[string]Sum{}
	}
	s := h.Kinds[kindOf(key)]
	s.Count += uint64(by) //nolint:gosec // minus one is what it is for
	s.Digest.mix(key, value)
	if s == (Sum{}) {
		delete(h.Kinds, kindOf(key))
		return
	}
	h.Kinds[kindOf(key)] = s
}

func (d *Digest) mix(key string, value []byte) {
	w := sha256.New()
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(key))) //nolint:gosec // keys are short
	w.Write(size[:])
	w.Write([]byte(key))
	w.Write(value)
	var sum [sha256.Size]byte
	w.Sum(sum[:0])
	for i := range d {
		d[i] ^= sum[i]
	}
}

// counted is a transaction that keeps the head.
type counted struct {
	state.Txn
	head *Head // nil: nothing that counts was written
}

// Set implements state.Txn.
func (c *counted) Set(key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	if err := c.change(key, value); err != nil {
		return err
	}
	return c.Txn.Set(key, value)
}

// Delete implements state.Txn.
func (c *counted) Delete(key string) error {
	if err := c.change(key, nil); err != nil {
		return err
	}
	return c.Txn.Delete(key)
}

// change counts the old value out and the new one in.
func (c *counted) change(key string, value []byte) error {
	if uncounted(key) {
		return nil
	}
	was, err := c.Get(key)
	switch {
	case errors.Is(err, state.ErrNotFound):
		was = nil
	case err != nil:
		return err
	case was == nil:
		was = []byte{}
	}
	if was == nil && value == nil || was != nil && value != nil && bytes.Equal(was, value) {
		return nil
	}
	if c.head == nil {
		h, _, err := get[Head](c.Txn, keyHead)
		if err != nil {
			return err
		}
		c.head = &h
	}
	if key == keyIncarnation {
		c.head.Store = string(value)
	}
	c.head.count(key, was, -1)
	if value != nil {
		c.head.count(key, value, +1)
	}
	return nil
}

// finish writes the head. It returns the one that is on disk once the transaction is; nil if
// that is the one before.
func (c *counted) finish() (*Head, error) {
	if c.head == nil {
		return nil, nil
	}
	c.head.Sequence++
	return c.head, put(c.Txn, keyHead, c.head)
}

// tally reads what the database has now.
func tally(t state.Txn) (now Head, err error) {
	err = t.Scan("", func(key string, value []byte) error {
		if uncounted(key) {
			return nil
		}
		if key == keyIncarnation {
			now.Store = string(value)
		}
		if value == nil {
			value = []byte{}
		}
		now.count(key, value, +1)
		return nil
	})
	return now, err
}
