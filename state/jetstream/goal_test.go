package jetstream_test

import (
	"strconv"
	"testing"

	"rackboot/state"
	"rackboot/state/jetstream"
)

// TestListWhileOthersWrite: a list ends though something is written whenever it has a message, and has each key that there
// was when it began, also one that was written more often meanwhile than revisions are kept.
func TestListWhileOthersWrite(t *testing.T) {
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: testServer(t, t.TempDir()), Name: "KV", Timeout: patience, History: 2})
	if err != nil {
		t.Fatal(err)
	}
	const keys = 10
	for i := range keys {
		if _, err := kv.Create(t.Context(), "k."+strconv.Itoa(i), []byte("0")); err != nil {
			t.Fatal(err)
		}
	}
	type write struct {
		key string
		rev uint64
	}
	var writes []write
	kv.SetBetween(func(at string) {
		if at != "list" {
			return
		}
		w := write{key: "w." + strconv.Itoa(len(writes))}
		var err error
		if len(writes)%3 == 0 {
			w.key = "k.0"
			var e state.Entry
			if e, err = kv.Get(t.Context(), w.key); err == nil {
				w.rev, err = kv.Update(t.Context(), w.key, []byte("1"), e.Revision)
			}
		} else {
			w.rev, err = kv.Create(t.Context(), w.key, []byte("1"))
		}
		if err != nil {
			t.Error(err)
		}
		writes = append(writes, w)
	})
	s, err := kv.Survey(t.Context())
	kv.SetBetween(nil)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]uint64{}
	for _, e := range s.Live {
		has[e.Key] = e.Revision
	}
	for i := range keys {
		if _, ok := has["k."+strconv.Itoa(i)]; !ok {
			t.Errorf("k.%d was there all the time, and is not in the list", i)
		}
	}
	newest := map[string]uint64{}
	for _, w := range writes {
		if w.rev <= s.Revision {
			newest[w.key] = w.rev
		}
	}
	for key, rev := range newest {
		if has[key] != rev {
			t.Errorf("%s was written at %d, and the list of %d has it at %d", key, rev, s.Revision, has[key])
		}
	}
	t.Logf("%d writes, and a list of %d keys at %d", len(writes), len(s.Live), s.Revision)
}
