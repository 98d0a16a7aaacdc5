package packages

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state/statetest"
)

// Wherever the hub dies, the same push ends with a whole package. The book is in memory here and is lost with each death:
// what came of the programs is not, as long as it is pushed again before it is collected.
func TestCrashPoints(t *testing.T) {
	program := strings.Repeat("program ", 40)
	manifest, digest := signed(t, 1, "0.2.0", program)
	open := func(dir string, crash func(string)) (*Room, *iso.Shelf) {
		kv := storetest.NewMemory()
		st, err := store.Open(context.Background(), store.Config{KV: kv, Log: kv, Clock: now, NewID: func() string { return "id" }})
		if err != nil {
			panic(err)
		}
		shelf, err := iso.Open(iso.Config{
			Dir: filepath.Join(dir, "isos"), Store: st, Needed: func() (map[string]bool, error) { return nil, nil }, Clock: now, Registerer: prometheus.NewRegistry(), Crash: crash,
		})
		if err != nil {
			panic(err)
		}
		return New(Config{
			Store: st, Shelf: shelf, Event: func(context.Context, string) {}, Clock: now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Crash: crash,
		}), shelf
	}
	push := func(r *Room, ack func()) error {
		p, err := r.Put(context.Background(), digest, manifest, "ann")
		if err != nil {
			return err
		}
		for at := p.Programs[0].Offset; at < int64(len(program)); ack() {
			got, err := r.Append(context.Background(), digest, "amd64", at, strings.NewReader(program[at:min(at+100, int64(len(program)))]))
			if err != nil {
				return err
			}
			at = got.Offset
		}
		if p, err := r.Get(digest); err != nil || !p.Whole {
			return fmt.Errorf("it is not whole: %w", err)
		}
		_, err = r.Remove(context.Background(), digest, "ann")
		return err
	}
	passed := map[string]bool{}
	statetest.Points(t, func(run statetest.Run) {
		r, _ := open(run.Dir, run.Crash)
		if err := push(r, func() { run.Ack("piece") }); err != nil {
			panic(err)
		}
	}, func(t *testing.T, k statetest.Kill) {
		passed[k.Point] = true
		r, shelf := open(k.Dir, nil)
		defer func() {
			if err := shelf.Close(); err != nil {
				t.Error(err)
			}
		}()
		p, err := r.Put(t.Context(), digest, manifest, "ann")
		if err != nil {
			t.Fatal(err)
		}
		if at, want := p.Programs[0].Offset, min(int64(len(k.Acked))*100, int64(len(program))); at < want {
			t.Errorf("%d bytes are there after %d were acknowledged", at, want)
		}
		if err := push(r, func() {}); err != nil {
			t.Error(err)
		}
		if _, err := r.Get(digest); protocol.CodeOf(err) != protocol.CodeNotFound || !shelf.Has(p.Programs[0].SHA256) {
			t.Errorf("%v, whole %t", err, shelf.Has(p.Programs[0].SHA256))
		}
	})
	for _, p := range []string{"hub.package.booked", "hub.package.program", "hub.package.removed"} {
		if !passed[p] {
			t.Errorf("%s was not passed", p)
		}
	}
}
