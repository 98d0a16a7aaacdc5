package broker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/pki"
	"rackboot/protocol"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// A disk that was full and has room again is written again, by the same process: the store
// has everything that was acknowledged, who watches it goes on, and agents can connect at
// the same address. Meanwhile reading goes on.
func TestFullDiskHeals(t *testing.T) {
	statetest.SmallDisk(t, 12, func(t *testing.T, mount string) {
		keys, err := pki.Open(filepath.Join(t.TempDir(), "pki"), []string{ownHost})
		if err != nil {
			t.Fatal(err)
		}
		registry := prometheus.NewRegistry()
		limits := patient()
		limits.look = 20 * time.Millisecond
		s := &site{t: t, keys: keys, store: filepath.Join(mount, "store"), change: func(c *Config) {
			c.Registerer, c.limits, c.Logger = registry, limits, slog.New(slog.NewTextHandler(os.Stderr, nil))
			c.MQTTListen = ownHost + ":0"
		}}
		s.open()
		defer s.broker.Close()
		addr := s.broker.Addr()
		lost := make(chan error, 1)
		agentOptions := options(addr, agentTLS(t, keys, "rack-1")).SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err })
		s.client(t, agentOptions)
		conn, err := s.broker.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: "KV"})
		if err != nil {
			t.Fatal(err)
		}
		watch, err := kv.Watch(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		acked := 0
		put := func(within time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			_, err := kv.Create(ctx, fmt.Sprintf("k.%d", acked), make([]byte, 50<<10))
			if err == nil {
				acked++
			}
			return err
		}
		for range 3 {
			if err := put(patience); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.broker.Healthy(); err != nil {
			t.Errorf("while all is well: %v", err)
		}
		ballast := filepath.Join(mount, "ballast")
		statetest.Fill(t, ballast, 16<<10)
		if err := put(100 * time.Millisecond); err == nil {
			t.Fatal("50 KiB were written to 16")
		}
		eventually(t, "it is known that the store takes no writes", func() bool { return s.broker.Healthy() != nil })
		if err := s.broker.Healthy(); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
			t.Errorf("code %s, hint %q: %v", protocol.CodeOf(err), protocol.HintOf(err), err)
		}
		if got := gathered(t, registry); got["rackboot_broker_store_failing"] != 1 || got["rackboot_broker_store_reopened_total"] != 0 {
			t.Errorf("failing %v, reopened %v", got["rackboot_broker_store_failing"], got["rackboot_broker_store_reopened_total"])
		}
		if _, err := kv.Get(t.Context(), "k.0"); err != nil {
			t.Errorf("a read on the full disk: %v", err)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the store is opened again", func() bool { return s.broker.Healthy() == nil })
		eventually(t, "a write goes through", func() bool { return put(time.Second) == nil })
		for i := range acked {
			if _, err := kv.Get(t.Context(), fmt.Sprintf("k.%d", i)); err != nil {
				t.Errorf("what was acknowledged is gone: k.%d: %v", i, err)
			}
		}
		for last := ""; last != fmt.Sprintf("k.%d", acked-1); {
			select {
			case change, ok := <-watch:
				if !ok {
					t.Fatalf("the watch was closed at %q", last)
				}
				last = change[len(change)-1].Key
			case <-time.After(patience):
				t.Fatalf("the watch ends at %q", last)
			}
		}
		select {
		case <-lost:
		case <-time.After(patience):
			t.Error("the agent's connection outlived the server")
		}
		if s.broker.Addr() != addr {
			t.Errorf("listens on %s, before on %s", s.broker.Addr(), addr)
		}
		s.client(t, agentOptions)
		if got := gathered(t, registry); got["rackboot_broker_store_failing"] != 0 || got["rackboot_broker_store_reopened_total"] != 1 || got["rackboot_broker_mqtt_sessions"] != 1 {
			t.Errorf("%v", got)
		}
	})
}
