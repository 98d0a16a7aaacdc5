package store

import (
	"errors"
	"strings"
	"sync/atomic"

	"rackboot/state"
)

// Sessions keeps the sessions at BMCs over a restart of the agent, so that BMCs, some
// of which have 16 in all, do not run out of them. A session is as good as a password
// until it ends, so that it is encrypted. Sessions is safe for concurrent use.
type Sessions struct {
	db      state.Store
	box     Box
	renewed atomic.Pointer[func(host string)]
}

// Box encrypts what is kept under a name, which it binds to it.
type Box interface {
	Lock(name string, plain []byte) []byte
	// Unlock fails for what it has not locked under that name.
	Unlock(name string, locked []byte) ([]byte, error)
}

// NewSessions keeps sessions in the agent's database.
func NewSessions(db state.Store, box Box) *Sessions { return &Sessions{db: db, box: box} }

// OnSave calls renewed with the BMC's host[:port] for every new session. It must not
// block.
func (s *Sessions) OnSave(renewed func(host string)) { s.renewed.Store(&renewed) }

func sessionKey(key string) string { return "session/" + key }

// Load returns what was saved, or nil without an error. What was saved with another key,
// or by a release that did not encrypt it, is none: a new session takes its place.
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
	if session, err = s.box.Unlock(sessionKey(key), session); err != nil {
		return nil, nil //nolint:nilerr // said above
	}
	return session, nil
}

// Save keeps a session under a key that begins with the BMC's host[:port] and a slash.
func (s *Sessions) Save(key string, session []byte) error {
	if err := s.db.Update(func(t state.Txn) error { return t.Set(sessionKey(key), s.box.Lock(sessionKey(key), session)) }); err != nil {
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
