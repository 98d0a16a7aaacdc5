package store

import (
	"slices"
	"testing"
)

// TestSessions: a session is there after a restart until it is forgotten, and each new
// one is told, with its BMC.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	_, db := opened(t, dir)
	s := NewSessions(db)
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
	s = NewSessions(db)
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
