package store

import (
	"bytes"
	"context"

	"rackboot/protocol"
	"rackboot/state"
)

// Meta returns a value of the hub's own and its revision; not_found if there is
// none.
func (s *Store) Meta(name string) ([]byte, uint64, error) {
	e, ok := s.mirror.get("meta." + name)
	if !ok {
		return nil, 0, protocol.Errorf(protocol.CodeNotFound, "get meta", "%q is not stored", name)
	}
	return bytes.Clone(e.Value), e.Revision, nil
}

// PutMeta writes a value of the hub's own: compare-and-set on revision, where 0
// creates. The codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutMeta(ctx context.Context, name string, value []byte, revision uint64) error {
	const op = "put meta"
	if !validToken(name) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name: use A-Z, a-z, 0-9, _, = and -", name)
	}
	if _, err := s.put(ctx, "meta."+name, bytes.Clone(value), revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Append writes to the log; see [state.Log]. The codes are unavailable and
// timeout.
func (s *Store) Append(ctx context.Context, subject string, data []byte, id string) (uint64, error) {
	s.Haste.GiveWay(ctx)
	if err := s.healthy(); err != nil {
		return 0, stateError("append to log", err)
	}
	seq, err := s.log.Append(ctx, subject, data, id)
	if err != nil {
		return 0, stateError("append to log", err)
	}
	return seq, nil
}

// TailLog reads the end of the log; see [state.Log]. The codes are unavailable and timeout.
func (s *Store) TailLog(ctx context.Context, subject string, limit int) ([]state.Record, error) {
	records, err := s.log.Tail(ctx, subject, limit)
	if err != nil {
		return nil, stateError("read log", err)
	}
	return records, nil
}

// CutLog takes what is old from the log; see [state.Log]. The codes are unavailable and timeout.
func (s *Store) CutLog(ctx context.Context, subject string, upTo uint64) error {
	err := s.healthy()
	if err == nil {
		err = s.log.Cut(ctx, subject, upTo)
	}
	if err != nil {
		return stateError("cut log", err)
	}
	return nil
}

// LogSize is how many bytes the log takes. The codes are unavailable and timeout.
func (s *Store) LogSize(ctx context.Context) (uint64, error) {
	size, err := s.log.Size(ctx)
	if err != nil {
		return 0, stateError("measure log", err)
	}
	return size, nil
}

// ReadLog reads from the log; see [state.Log]. The codes are unavailable and
// timeout.
func (s *Store) ReadLog(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	records, err := s.log.Read(ctx, subject, from, limit)
	if err != nil {
		return nil, stateError("read log", err)
	}
	return records, nil
}
