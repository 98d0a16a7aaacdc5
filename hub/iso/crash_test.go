package iso

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	protoapi "rackboot/protocol/api"
	"rackboot/state/statetest"
)

// Wherever the hub dies, the same command ends with the file, and nothing is left. The
// book is in memory here, so that it is lost with each death: what a death between book and
// record leaves is a record whose content is there.
func TestCrashPoints(t *testing.T) {
	plain := archive(t, "kernel")
	content := zipped(t, plain)
	open := func(dir string, crash func(string)) (*Shelf, *store.Store) {
		kv := storetest.NewMemory()
		st, err := store.Open(context.Background(), store.Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			panic(err)
		}
		s, err := Open(Config{
			Dir: dir, Store: st, Needed: func() (map[string]bool, error) { return nil, nil },
			Clock: time.Now, Registerer: prometheus.NewRegistry(), Crash: crash,
		})
		if err != nil {
			panic(err)
		}
		return s, st
	}
	upload := func(s *Shelf, ack func(int64)) error {
		ctx := context.Background()
		u, err := s.Begin(ctx, request("A.tar.gz", content), "ann")
		if err != nil {
			return err
		}
		for u.Offset < u.Size {
			if u, err = s.Append(ctx, u.ID, u.Offset, bytes.NewReader(content[u.Offset:min(u.Size, u.Offset+60)])); err != nil {
				return err
			}
			ack(u.Offset)
		}
		_, err = s.Finish(ctx, u.ID, protoapi.ISOFinishRequest{File: "A.tar.gz"})
		return err
	}
	passed := map[string]bool{}
	statetest.Points(t, func(run statetest.Run) {
		s, _ := open(run.Dir, run.Crash)
		if err := upload(s, func(int64) { run.Ack("piece") }); err != nil {
			panic(err)
		}
		run.Ack("done")
	}, func(t *testing.T, k statetest.Kill) {
		passed[k.Point] = true
		s, st := open(k.Dir, nil)
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		pieces := int64(len(k.Acked))
		first := true
		if len(s.uploads.all()) > 0 {
			u, err := s.Upload(t.Context(), s.uploads.all()[0].id)
			if want := min(pieces*60, int64(len(content))); err != nil || u.Offset < want {
				t.Errorf("at %d after %d were acknowledged, %v", u.Offset, want, err)
			}
		}
		if err := upload(s, func(int64) { first = false }); err != nil {
			t.Errorf("again (%t): %v", first, err)
		}
		f, err := st.ISOs.Get("A.tar.gz")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.blobs.Verify(t.Context(), f.Digest); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(s.path("uploads")); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
	for _, p := range []string{"hub.iso.begun", "hub.iso.verified", "hub.iso.repacked", "hub.iso.booked", "blob/part/marked"} {
		if !passed[p] {
			t.Errorf("%s was not passed", p)
		}
	}
}
