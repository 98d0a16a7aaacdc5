package store

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"rackboot/state"
)

// TestSessions: a session is there after a restart until it is forgotten, and each new
// one is told, with its BMC.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	_, db := opened(t, dir)
	s := NewSessions(db, named{})
	var told []string
	s.OnSave(func(host string) { told = append(told, host) })
	if raw, err := s.Load("10.0.0.1:443/a"); raw != nil || err != nil {
		t.Fatalf("%q, %v", raw, err)
	}
	for _, key := range []string{"10.0.0.1:443/a", "10.0.0.1:443/b"} {
		if err := s.Save(key, []byte("token of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"10.0.0.1:443", "10.0.0.1:443"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, db = opened(t, dir)
	s = NewSessions(db, named{})
	for range 2 {
		if err := s.Delete("10.0.0.1:443/b"); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]string{"10.0.0.1:443/a": "token of 10.0.0.1:443/a", "10.0.0.1:443/b": ""} {
		if raw, err := s.Load(key); string(raw) != want || err != nil {
			t.Errorf("%s: %q, %v", key, raw, err)
		}
	}
}

// named is a Box that hides nothing and binds to the name.
type named struct{}

func (named) Lock(name string, plain []byte) []byte { return append([]byte(name+"="), plain...) }

func (named) Unlock(name string, locked []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(locked, []byte(name+"="))
	if !ok {
		return nil, errors.New("of another name")
	}
	return plain, nil
}

// What is under a key and was not locked for it is no session: another key's, or one
// that a release before has kept in clear.
func TestSessionOfAnotherKey(t *testing.T) {
	_, db := opened(t, t.TempDir())
	s := NewSessions(db, named{})
	if err := s.Save("10.0.0.1:443/a", []byte("token")); err != nil {
		t.Fatal(err)
	}
	err := db.Update(func(tx state.Txn) error {
		moved, err := tx.Get("session/10.0.0.1:443/a")
		if err != nil {
			return err
		}
		return errors.Join(tx.Set("session/10.0.0.1:443/b", moved), tx.Set("session/10.0.0.1:443/c", []byte("in clear")))
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"10.0.0.1:443/a": "token", "10.0.0.1:443/b": "", "10.0.0.1:443/c": ""} {
		if got, err := s.Load(key); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
}
