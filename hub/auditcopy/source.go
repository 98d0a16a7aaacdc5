package auditcopy

import (
	"context"
	"errors"

	"rackboot/protocol"
	"rackboot/state"
)

const (
	// ownPage and streamPage bound what a source has in memory: entries of the files, and records of the stream.
	ownPage    = 200
	streamPage = 16
)

// opUnreadable is the operation of an entry that is made up for a record that is none, as package audit does for a line.
const opUnreadable = "audit-unreadable"

// source is a hub's log, read in order from some entry on.
type source struct {
	hub  string
	next uint64 // entry to go on with
	at   uint64 // sequence of the record in which it is, or later; of the stream alone
	page []paged
	done bool                                       // there was nothing more
	more func(ctx context.Context, s *source) error // appends to page; nothing is the end
}

// paged is an entry, and its record's sequence.
type paged struct {
	entry protocol.AuditEntry
	at    uint64
}

// first is the next entry, which stays; false at the end.
func (s *source) first(ctx context.Context) (protocol.AuditEntry, bool, error) {
	if len(s.page) == 0 && !s.done {
		if err := s.more(ctx, s); err != nil {
			return protocol.AuditEntry{}, false, err
		}
		s.done = len(s.page) == 0
	}
	if s.done {
		return protocol.AuditEntry{}, false, nil
	}
	return s.page[0].entry, true, nil
}

// pass goes on to the entry after the first.
func (s *source) pass() {
	s.next, s.at = s.page[0].entry.Seq+1, s.page[0].at
	s.page = s.page[1:]
}

// fromOwn reads the files of this hub.
func fromOwn(own Own) func(context.Context, *source) error {
	return func(_ context.Context, s *source) error {
		entries, _, err := own.Read(s.next, ownPage)
		for _, e := range entries {
			s.page = append(s.page, paged{entry: e})
		}
		return err
	}
}

// fromStream reads the records of a hub.
func fromStream(j Journal) func(context.Context, *source) error {
	return func(ctx context.Context, s *source) error {
		for len(s.page) == 0 {
			records, err := j.Read(ctx, s.hub, s.at, streamPage)
			if err != nil || len(records) == 0 {
				return err
			}
			for _, rec := range records {
				s.take(rec)
			}
			s.at = records[len(records)-1].Seq + 1
		}
		return nil
	}
}

// take takes from a record what is not passed yet.
func (s *source) take(rec state.Record) {
	entries, err := unpack(rec.Data)
	if err != nil {
		entries = []protocol.AuditEntry{{Seq: s.next, At: rec.At, Op: opUnreadable, Outcome: protocol.AuditFailed, Detail: err.Error()}}
	}
	for _, e := range entries {
		if e.Seq >= s.next {
			s.page = append(s.page, paged{e, rec.Seq})
		}
	}
}

// find is the sequence of the last record of a hub whose first entry is before what is looked for; 1 if there is none.
// It asks some 20 times in a long log.
func find(ctx context.Context, j Journal, hub string, before func(protocol.AuditEntry) bool) (uint64, error) {
	newest, err := j.Newest(ctx)
	if err != nil {
		return 0, err
	}
	is, isNot := uint64(1), newest+1
	for isNot-is > 1 {
		middle := is + (isNot-is)/2
		rec, err := j.Next(ctx, hub, middle)
		if errors.Is(err, state.ErrNotFound) || err == nil && rec.Seq >= isNot {
			isNot = middle
			continue
		}
		if err != nil {
			return 0, err
		}
		if entries, err := unpack(rec.Data); err == nil && !before(entries[0]) {
			isNot = middle
		} else {
			is = rec.Seq
		}
	}
	return is, nil
}
