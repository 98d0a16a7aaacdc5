package broker

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/hub/pki"
)

// childDir names the environment variable that makes the test binary a broker.
const childDir = "RACKBOOT_TEST_BROKER_DIR"

// writeUntilKilled prints each key after the store has acknowledged it.
func writeUntilKilled(dir string) {
	err := func() error {
		keys, err := pki.Open(filepath.Join(dir, "pki"), nil)
		if err != nil {
			return err
		}
		b, err := Open(Config{
			Dir: filepath.Join(dir, "store"), MQTTListen: "127.0.0.1:0", TLS: keys.BrokerTLS(),
			HubIdentity: pki.HubIdentity, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		kv, err := bucket(context.Background(), b)
		if err != nil {
			return err
		}
		for i := 0; ; i++ {
			if _, err := kv.Put(context.Background(), fmt.Sprintf("k.%d", i), []byte("v")); err != nil {
				return err
			}
			fmt.Println(i)
		}
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func bucket(ctx context.Context, b *Broker) (jetstream.KeyValue, error) {
	nc, err := b.Conn(ctx)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		return nil, err
	}
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "hub", Storage: jetstream.FileStorage})
}

// What was acknowledged before a kill is there after it.
func TestKilledBrokerKeepsTheStore(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := 0
	for lines := bufio.NewScanner(out); lines.Scan(); acked++ {
		if acked == 200 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // always an error: it was killed
	if acked < 200 {
		t.Fatalf("the broker ended by itself after %d writes", acked)
	}
	keys, err := pki.Open(filepath.Join(dir, "pki"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, keys: keys, store: filepath.Join(dir, "store")}
	begin := time.Now()
	s.open()
	t.Logf("opened %s after a kill, with %d keys", time.Since(begin), acked)
	defer s.broker.Close()
	kv, err := bucket(t.Context(), s.broker)
	if err != nil {
		t.Fatal(err)
	}
	for i := range acked {
		if _, err := kv.Get(t.Context(), fmt.Sprintf("k.%d", i)); err != nil {
			t.Fatalf("key %d of %d: %v", i, acked, err)
		}
	}
}
