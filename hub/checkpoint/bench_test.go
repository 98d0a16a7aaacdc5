package checkpoint

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/state/heads"
)

// BenchmarkKeeper is what a look costs with 50,000 keys: where nothing has changed, where 100 keys have, and where all
// is written anew.
func BenchmarkKeeper(b *testing.B) {
	const keys = 50_000
	mem := storetest.NewMemory()
	for i := range keys {
		if _, err := mem.Create(b.Context(), fmt.Sprintf("meta.rack-%d-node-%d", i/50, i%50), []byte("some value")); err != nil {
			b.Fatal(err)
		}
	}
	st, err := store.Open(b.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		b.Fatal(err)
	}
	k := New(Config{Path: filepath.Join(b.TempDir(), "heads"), Streams: Streams{"s": &stream{}}, Store: st, ID: "one", Logger: slog.New(slog.DiscardHandler)}, heads.Record{})
	defer k.Close()
	look := func() {
		c, taken, err := k.look(context.Background())
		if err == nil && !k.same(c, taken) {
			err = k.write(c, taken)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for name, change := range map[string]func(){
		"nothing": func() {},
		"changed": func() {
			for i := range 100 {
				name := fmt.Sprintf("rack-%d-node-%d", i, i%50)
				_, revision, err := st.Meta.Get(name)
				if err == nil {
					err = st.Meta.Put(b.Context(), name, []byte("another"), revision)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		},
		"all": func() { k.all = true },
	} {
		b.Run(name, func(b *testing.B) {
			look()
			for b.Loop() {
				b.StopTimer()
				change()
				b.StartTimer()
				look()
			}
		})
	}
}
