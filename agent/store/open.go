package store

import (
	"rackboot/protocol/decide"
	"rackboot/state"
)

// Open gives a new database its identity, and takes over one of the release before. It
// writes what is to change only. Nothing is served and nothing decided before it returns,
// and one that a crash has cut short is done again from the beginning.
func Open(cfg Config) (*Store, error) {
	return openInParts(cfg, partBytes)
}

func openInParts(cfg Config, bytes int) (*Store, error) {
	s := &Store{db: cfg.DB, crash: cfg.Crash, newID: cfg.NewID, maxEvents: maxEvents, partBytes: bytes, guard: cfg.Guarded}
	if err := s.open(); err != nil {
		return nil, failing("open the agent's store", err)
	}
	return s, nil
}

func (s *Store) open() error {
	err := s.updateInParts("agent.open.part", func(t state.Txn, cut func()) error {
		if err := identify(t, s.newID); err != nil {
			return err
		}
		if err := s.number(t); err != nil {
			return err
		}
		if err := adoptSegments(t); err != nil {
			return err
		}
		cut()
		return recoverRecords(t, cut)
	})
	if err != nil {
		return err
	}
	return s.readMirror()
}

// recoverRecords: a boot file that was being served when the agent died counts as
// fetched. Each record is complete in itself, and recovering it again changes nothing.
func recoverRecords(t state.Txn, cut func()) error {
	return t.Scan(keyRecords, func(key string, raw []byte) error {
		r, err := decode[decide.Record](key, raw)
		if err != nil {
			return err
		}
		after, changed := decide.Recover(r)
		if !changed {
			return nil
		}
		if err := put(t, key, after); err != nil {
			return err
		}
		cut()
		return nil
	})
}
