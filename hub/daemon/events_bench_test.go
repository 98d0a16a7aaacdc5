package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/hub/broker"
	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/jetstream"
)

// BenchmarkEventsFiled files messages of 16 events each to the embedded server, as the four that read agents' messages do: as the
// hub does, and each event as a record of its own, as 0.1.0 did.
func BenchmarkEventsFiled(b *testing.B) {
	const readers, batch = 4, 16
	for name, file := range map[string]func(ctx context.Context, s *store.Store, l *events.Log, items []events.Item) error{
		"records of what waits": func(ctx context.Context, _ *store.Store, l *events.Log, items []events.Item) error {
			return l.Add(ctx, items...)
		},
		"a record each": func(ctx context.Context, s *store.Store, _ *events.Log, items []events.Item) error {
			for _, item := range items {
				if _, err := s.Log.Append(ctx, "event", fmt.Appendf(nil, "%0300d", 1), item.ID); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			server, err := broker.Open(broker.Config{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(server.Close)
			conn, err := server.Conn(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			kv, err := jetstream.OpenKV(b.Context(), jetstream.Config{Conn: conn, Name: streamKV})
			if err != nil {
				b.Fatal(err)
			}
			facts, err := jetstream.OpenLog(b.Context(), jetstream.Config{Conn: conn, Name: streamLog})
			if err != nil {
				b.Fatal(err)
			}
			s, err := store.Open(b.Context(), store.Config{KV: kv, Log: facts, Clock: time.Now, NewID: newID})
			if err != nil {
				b.Fatal(err)
			}
			l, err := events.Open(b.Context(), events.Config{Store: s, Clock: time.Now, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			var n atomic.Int64
			var all sync.WaitGroup
			for range readers {
				all.Go(func() {
					for {
						at := n.Add(batch)
						if at > int64(b.N) {
							return
						}
						items := make([]events.Item, batch)
						for i := range items {
							ev := resource.Event{At: time.Now(), Server: "fleet-0001-07", Code: resource.EventPowerOn, Seq: uint64(at) + uint64(i), Message: fmt.Sprintf("%0150d", at)}
							items[i] = events.Item{Event: api.EventRecord{Event: ev, Agent: "fleet-0001"}, ID: fmt.Sprint("fleet-0001-", at, "-", i)}
						}
						if err := file(b.Context(), s, l, items); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
