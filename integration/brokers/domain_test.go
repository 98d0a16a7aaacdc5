package brokers

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"rackboot/state"
	"rackboot/state/jetstream"
)

// A store in another JetStream domain is reached through a leaf node, which has none of its own: it is written, followed,
// copied, and made of a copy.
func TestStoreBehindALeafNode(t *testing.T) {
	t.Parallel()
	program, dir := natsProgram(t), t.TempDir()
	leaves := freeAddress(t)
	start := func(name, text string) *server {
		sv := &server{t: t, name: name, dir: dir, addr: freeAddress(t), program: program}
		conf := filepath.Join(dir, name+".conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, "server_name: %s\nlisten: %q\n%s", name, sv.addr, text), 0o600); err != nil {
			t.Fatal(err)
		}
		sv.args = []string{"-c", conf}
		sv.start()
		t.Cleanup(sv.kill)
		return sv
	}
	start("core", fmt.Sprintf("jetstream { store_dir: %q, sync_interval: always, domain: core }\nleafnodes { listen: %q }\n", filepath.Join(dir, "core"), leaves))
	leaf := start("leaf", fmt.Sprintf("leafnodes { remotes: [{ url: \"nats://%s\" }] }\n", leaves))
	c := &cluster{t: t}
	c.await("the leaf node listens", func() error {
		conn, err := net.Dial("tcp", leaf.addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	conn, err := natsgo.Connect("nats://" + leaf.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	cfg := jetstream.Config{Conn: conn, Name: "rackboot", Domain: "core", Timeout: waitAtMost}
	kv, err := jetstream.OpenKV(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := kv.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Commit(t.Context(), []state.Op{{Kind: state.OpCreate, Key: "a", Value: []byte("1")}, {Kind: state.OpCreate, Key: "b", Value: []byte("2")}}); err != nil {
		t.Fatal(err)
	}
	if got := <-changes; len(got) != 2 {
		t.Errorf("a change of %d keys", len(got))
	}
	var copied bytes.Buffer
	if _, err := kv.Copy(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	if err := jsDelete(conn, "core", "rackboot"); err != nil {
		t.Fatal(err)
	}
	if there, err := jetstream.Exists(t.Context(), cfg); err != nil || there {
		t.Fatalf("%t, %v", there, err)
	}
	if got, err := jetstream.Restore(t.Context(), cfg, &copied); err != nil || got.Messages != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if kv, err = jetstream.OpenKV(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(t.Context(), "b"); err != nil || string(e.Value) != "2" {
		t.Errorf("%+v, %v", e, err)
	}
}

// jsDelete removes a stream of a domain.
func jsDelete(conn *natsgo.Conn, domain, stream string) error {
	_, err := conn.Request("$JS."+domain+".API.STREAM.DELETE."+stream, nil, waitAtMost)
	return err
}
