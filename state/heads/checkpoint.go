package heads

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is one live key of a store.
type Key struct {
	Name     string
	Revision uint64
	Sum      uint32 // CRC-32 of its value
	// Note says more of it than the name, for people: of a hold whose it is.
	Note string
}

// Kind is what a key is of: all its levels but the last.
func Kind(key string) string { return key[:max(strings.LastIndexByte(key, '.'), 0)] }

// Name is the last level of a key.
func Name(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// Digest is a sum of hashes of keys, modulo 2^64 each half: a key comes and goes by one addition.
type Digest [2]uint64

// MarshalText writes hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], d[0])
	binary.BigEndian.PutUint64(raw[8:], d[1])
	return []byte(hex.EncodeToString(raw[:])), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != 16 {
		return fmt.Errorf("%.40q is no digest", text)
	}
	d[0], d[1] = binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	return nil
}

// Sum is how many keys of a kind there are, and a digest of which, at which revisions, with which
// values.
type Sum struct {
	Count  uint64 `json:"count"`
	Digest Digest `json:"digest"`
}

// Add counts a key in.
func (s *Sum) Add(k Key) {
	h := hash(k)
	s.Count++
	s.Digest[0] += h[0]
	s.Digest[1] += h[1]
}

// Take counts a key out that was counted in.
func (s *Sum) Take(k Key) {
	h := hash(k)
	s.Count--
	s.Digest[0] -= h[0]
	s.Digest[1] -= h[1]
}

func hash(k Key) Digest {
	raw := make([]byte, 0, 96)
	raw = binary.BigEndian.AppendUint64(raw, k.Revision)
	raw = binary.BigEndian.AppendUint32(raw, k.Sum)
	raw = append(raw, k.Name...)
	h := sha256.Sum256(raw)
	return Digest{binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])}
}

// Sums are the sums of keys by kind.
func Sums(keys map[string]Key) map[string]Sum {
	out := map[string]Sum{}
	for _, k := range keys {
		s := out[Kind(k.Name)]
		s.Add(k)
		out[Kind(k.Name)] = s
	}
	return out
}

// Extent is how much a stream has, and what was removed from it on purpose is counted as if it were there.
// From a KV otherwise only a revision goes for which a newer one came. So none of the numbers falls while
// what was acknowledged is there.
type Extent struct {
	Sequence uint64 `json:"sequence"` // of the newest message
	Messages uint64 `json:"messages"`
	Keys     uint64 `json:"keys"`
}

// Covers reports whether e has at least as much as other.
func (e Extent) Covers(other Extent) bool {
	return e.Sequence >= other.Sequence && e.Messages >= other.Messages && e.Keys >= other.Keys
}

// Entry is the last entry of an audit log; its Seq is 0 before the first.
type Entry struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash,omitempty"`
}

// Checkpoint is what a store had.
type Checkpoint struct {
	// Store is the store's id: another one after it was restored.
	Store string `json:"store"`
	// Epoch rises when a store is restored.
	Epoch uint64 `json:"epoch"`
	// Sequence is the revision up to which Kinds have everything. They may have newer keys too.
	Sequence uint64 `json:"sequence"`
	// Streams are the extents by name.
	Streams map[string]Extent `json:"streams"`
	// Kinds are the sums of the live keys.
	Kinds map[string]Sum `json:"kinds"`
	Audit Entry          `json:"audit"`
}
