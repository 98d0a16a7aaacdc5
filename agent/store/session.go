package store

import (
	"errors"
	"strings"
	"sync/atomic"

	"rackboot/state"
)

// Sessions keeps the sessions at BMCs over a restart of the agent, so that BMCs, some
// of which have 16 in all, do not run out of them. A session is as good as a password
// until it ends: it is stored as it is, in a folder that only the agent's user may
// read. Sessions is safe for concurrent use.
type Sessions struct {
	db      state.Store
	renewed atomic.Pointer[func(host string)]
}

// NewSessions keeps sessions in the agent's database.
func NewSessions(db state.Store) *Sessions { return &Sessions{db: db} }

// OnSave calls renewed with the BMC's host[:port] for every new session. It must not
// block.
func (s *Sessions) OnSave(renewed func(host string)) { s.renewed.Store(&renewed) }

func sessionKey(key string) string { return "session/" + key }

// Load returns what was saved, or nil without an error.
func (s *Sessions) Load(key string) (session []byte, err error) {
	err = s.db.View(func(t state.Txn) error {
		session, err = t.Get(sessionKey(key))
		return err
	})
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, failing("read a session at a BMC", err)
	}
	return session, nil
}

// Save keeps a session under a key that begins with the BMC's host[:port] and a slash.
func (s *Sessions) Save(key string, session []byte) error {
	if err := s.db.Update(func(t state.Txn) error { return t.Set(sessionKey(key), session) }); err != nil {
		return failing("keep a session at a BMC", err)
	}
	if f := s.renewed.Load(); f != nil {
		host, _, _ := strings.Cut(key, "/")
		(*f)(host)
	}
	return nil
}

// Delete forgets a session; one that is not there is no error.
func (s *Sessions) Delete(key string) error {
	if err := s.db.Update(func(t state.Txn) error { return t.Delete(sessionKey(key)) }); err != nil {
		return failing("forget a session at a BMC", err)
	}
	return nil
}
