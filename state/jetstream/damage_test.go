package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// damaged runs fill on a server, ends that, has spoil change files of the stream, and starts it again.
func damaged(t *testing.T, fill func(kv *jetstream.KV, log *jetstream.Log), spoil func(msgs string)) (*jetstream.KV, *jetstream.Log) {
	t.Helper()
	dir := t.TempDir()
	open := func() (*jetstream.KV, *jetstream.Log, func()) {
		s, nc, err := startServer(dir)
		if err != nil {
			t.Fatal(err)
		}
		kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV"})
		if err != nil {
			t.Fatal(err)
		}
		log, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: nc, Name: "LOG"})
		if err != nil {
			t.Fatal(err)
		}
		return kv, log, func() {
			nc.Close()
			s.Shutdown()
			s.WaitForShutdown()
		}
	}
	kv, log, end := open()
	fill(kv, log)
	end()
	spoil(filepath.Join(dir, "jetstream/$G/streams"))
	kv, log, end = open()
	t.Cleanup(end)
	return kv, log
}

// flip changes a byte in the newest block of a stream, at a part of it.
func flip(t *testing.T, streams, name string, part float64) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(streams, name, "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no block of %s: %v", name, err)
	}
	block := slices.Max(blocks)
	raw, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	raw[int(float64(len(raw)-1)*part)] ^= 0x10
	if err := os.WriteFile(block, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A value that the disk has changed is named, and nobody takes it for absent: everything else is read.
func TestUnreadableKey(t *testing.T) {
	t.Parallel()
	const keys = 60
	for _, part := range []float64{0.05, 0.5, 0.99} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			kv, _ := damaged(t, func(kv *jetstream.KV, _ *jetstream.Log) {
				for i := range keys {
					if _, err := kv.Create(t.Context(), fmt.Sprintf("k.%02d", i), make([]byte, 300)); err != nil {
						t.Fatal(err)
					}
				}
			}, func(streams string) { flip(t, streams, "KV", part) })
			survey, err := kv.Survey(t.Context())
			if err != nil || len(survey.Unreadable) != 1 || len(survey.Live) != keys-1 {
				t.Errorf("%d keys, unreadable %v, %v", len(survey.Live), survey.Unreadable, err)
			}
			if _, _, err := kv.List(t.Context(), ""); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
				t.Errorf("a list: %v", err)
			}
			if err := kv.Drop(t.Context(), survey.Unreadable); err != nil {
				t.Fatal(err)
			}
			if _, err := kv.Create(t.Context(), survey.Unreadable[0], []byte("again")); err != nil {
				t.Errorf("it cannot be created again: %v", err)
			}
			if live, _, err := kv.List(t.Context(), ""); err != nil || len(live) != keys {
				t.Errorf("then %d keys, %v", len(live), err)
			}
		})
	}
}

// A record that the disk has changed is passed over; those before and after it are read.
func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	const records = 40
	for _, part := range []float64{0.01, 0.5, 0.99} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			_, log := damaged(t, func(_ *jetstream.KV, log *jetstream.Log) {
				for i := range records {
					if _, err := log.Append(t.Context(), "event", fmt.Appendf(nil, "%0300d", i), ""); err != nil {
						t.Fatal(err)
					}
				}
			}, func(streams string) { flip(t, streams, "LOG", part) })
			got, err := log.Read(t.Context(), "event", 1, records)
			if err != nil || len(got) != records-1 {
				t.Errorf("read: %d records, %v", len(got), err)
			}
		})
	}
}

// A key that was deleted does not come back when the server rebuilds what it knows from its blocks: not
// where it was forgotten, nor where it had more revisions than the stream keeps, which is why that one is not.
func TestForgottenStaysAway(t *testing.T) {
	t.Parallel()
	kv, _ := damaged(t, func(kv *jetstream.KV, _ *jetstream.Log) {
		ctx := context.Background()
		rev, err := kv.Create(ctx, "hold.h1", []byte("0"))
		for i := 1; err == nil && i < 40; i++ {
			rev, err = kv.Update(ctx, "hold.h1", fmt.Append(nil, i), rev)
		}
		if err == nil {
			err = kv.Delete(ctx, "hold.h1", rev)
		}
		for i := range 3 {
			if err == nil {
				rev, err = kv.Create(ctx, fmt.Sprintf("hold.g%d", i), []byte("goes"))
			}
			if err == nil {
				err = kv.Delete(ctx, fmt.Sprintf("hold.g%d", i), rev)
			}
		}
		if err == nil {
			_, err = kv.Create(ctx, "hold.h2", []byte("stays"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if n, err := kv.Forget(ctx, time.Now().Add(time.Hour)); n != 3 || err != nil {
			t.Fatalf("%d forgotten, %v", n, err)
		}
	}, func(streams string) {
		if err := os.Remove(filepath.Join(streams, "KV", "msgs", "index.db")); err != nil {
			t.Fatal(err)
		}
	})
	live, _, err := kv.List(t.Context(), "")
	if err != nil || len(live) != 1 || live[0].Key != "hold.h2" {
		t.Errorf("there is %v, %v", keysOf(live), err)
	}
}

func keysOf(entries []state.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Key)
	}
	return out
}
