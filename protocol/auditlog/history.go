package auditlog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"rackboot/protocol"
)

// History is a verified log of which the hashes are kept, to compare it with
// another. It takes 32 bytes for each entry.
type History struct {
	Report
	hashes []sum // of the entries from First on
}

type sum [sha256.Size]byte

// sumOf is the hash of an entry; the zero sum of what is none.
func sumOf(hash string) (s sum) {
	if raw, err := hex.DecodeString(strings.TrimPrefix(hash, "sha256:")); err == nil {
		copy(s[:], raw)
	}
	return s
}

// at is the hash of an entry that the history has.
func (h *History) at(seq uint64) sum { return h.hashes[seq-h.First] }

// ReadHistory verifies an export of one log; errors as with [Verify].
func ReadHistory(r io.Reader, keys *Keys) (*History, error) {
	h := &History{}
	var err error
	h.Report, err = Verify(r, keys, func(e protocol.AuditEntry) error {
		h.hashes = append(h.hashes, sumOf(e.Hash))
		return nil
	})
	return h, err
}

// Follows says whether the log of h is the one of old, gone on; nil if so.
//
//	h                                       | outcome
//	begins after the entry that follows old | missing
//	has another hash under one number       | forked
//	ends before old                         | cut
//	else                                    | nil
//
// The first row that fits decides. Forked and cut are what a log shows that was put back
// from an older copy, or begun anew.
func (h *History) Follows(old *History) *Finding {
	if h.First > old.Last+1 {
		return &Finding{Fault: Missing, Seq: old.Last + 1, Why: run(old.Last+1, h.First-1) + " in neither of the two"}
	}
	for seq := max(h.First, old.First); seq <= min(h.Last, old.Last); seq++ {
		if h.at(seq) != old.at(seq) {
			return fork(seq, "has another hash than in the older export")
		}
	}
	switch {
	case h.First == old.Last+1 && h.prev != old.Hash:
		return fork(h.First, "does not follow the last entry of the older export")
	case h.First > old.First && h.First <= old.Last && sumOf(h.prev) != old.at(h.First-1):
		return fork(h.First, "does not follow the entry before it of the older export")
	case h.Last < old.Last:
		return &Finding{Fault: Cut, Seq: h.Last + 1, Why: fmt.Sprintf("the log ends with entry %d; the older export goes on to entry %d", h.Last, old.Last)}
	}
	return nil
}

func fork(seq uint64, why string) *Finding {
	return &Finding{Fault: Forked, Seq: seq, Why: "it " + why}
}
