package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"rackboot/hub/checkpoint"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/heads"
)

// heldHub is a hub that has served, whose store has a server n1 with a hold h1.
func heldHub(t *testing.T) Config {
	t.Helper()
	c := ownHub(t)
	fill(t, c, "h1")
	return c
}

// fill has a hub serve once, and writes a server and a hold to its store.
func fill(t *testing.T, c Config, id string) {
	t.Helper()
	started(t, c)
	offline(t, c, func(st *store.Store) {
		if _, err := st.Sets.Apply(t.Context(), storetest.Site(), store.ApplyOptions{By: "test"}); err != nil {
			t.Fatal(err)
		}
		hold := storetest.Hold("ha", "node/1", "n1")
		hold.Metadata.Name = id
		if _, err := st.Holds.Create(t.Context(), hold); err != nil {
			t.Fatal(err)
		}
	})
}

// offline opens the store of a hub that does not run, and has what was written known.
func offline(t *testing.T, c Config, do func(st *store.Store)) {
	t.Helper()
	opened(t, c, func(st *store.Store, _ state.KV) { do(st) })
}

// withKV is offline for what the store stands on.
func withKV(t *testing.T, c Config, do func(kv state.KV)) {
	t.Helper()
	opened(t, c, func(_ *store.Store, kv state.KV) { do(kv) })
}

func opened(t *testing.T, c Config, do func(st *store.Store, kv state.KV)) {
	t.Helper()
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.openOffline(t.Context(), keys, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	up := st.up
	do(st.Store, up.old.kv)
	up.heads.Serve(up.was.Epoch, func() heads.Entry { return up.was.Audit })
	if err := up.heads.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lastPort is the last that freeAddress has given out.
var lastPort atomic.Int64

// freeAddress is one that nobody listens at. It is below those that the kernel gives to who asks for any, as
// other hubs of these tests do meanwhile, and those that integration/sim chooses from; no other test gets it.
func freeAddress(t *testing.T) string {
	t.Helper()
	const low, high = 3_000, 10_000
	lastPort.CompareAndSwap(0, low+rand.Int64N(high-low))
	for range high - low {
		address := fmt.Sprintf("127.0.0.1:%d", low+lastPort.Add(1)%(high-low))
		ln, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no port is free")
	return ""
}

// serving runs a hub while do asks it. It returns why the hub did not start.
func serving(t *testing.T, c Config, do func(client *api.Client, base string)) error {
	t.Helper()
	c.API = freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: func() { close(ready) }})
	}()
	select {
	case err := <-ended:
		return err
	case <-ready:
	}
	token, err := os.ReadFile(c.path("pki/admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(c.path(caCopy))
	if err != nil {
		t.Fatal(err)
	}
	client, err := api.NewClient(api.Config{BaseURL: "https://" + c.API, CA: ca, Token: strings.TrimSpace(string(token))})
	if err != nil {
		t.Fatal(err)
	}
	do(client, "https://"+c.API)
	client.CloseIdle()
	cancel()
	return <-ended
}

const streamsOf = "store/jetstream/$G/streams"

// A hub whose store has lost what was acknowledged starts, and says of nothing that it is not there; who goes
// on with what is left says so, and then new holds are accepted at once.
func TestStoreThatLostSomething(t *testing.T) {
	t.Parallel()
	kept := heldHub(t)
	for name, spoil := range map[string]func(streams string) error{
		"a flipped byte, and no index": func(streams string) error {
			file := filepath.Join(streams, checkpoint.KVStream, "msgs", "1.blk")
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			raw[len(raw)/3] ^= 0x10
			return errors.Join(os.WriteFile(file, raw, 0o600), os.Remove(filepath.Join(streams, checkpoint.KVStream, "msgs", "index.db")))
		},
		"a block that is gone": func(streams string) error {
			return os.Remove(filepath.Join(streams, checkpoint.KVStream, "msgs", "1.blk"))
		},
		"all that it had": os.RemoveAll,
		"the hold's value flipped": func(streams string) error {
			file := filepath.Join(streams, checkpoint.KVStream, "msgs", "1.blk")
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			raw[bytes.LastIndex(raw, []byte("rackboot.res.holds.h1"))+60] ^= 0x10
			return os.WriteFile(file, raw, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := copied(t, kept)
			if err := spoil(c.path(streamsOf)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first start has taken nothing for a fact
				if err := serving(t, c, func(client *api.Client, _ string) { lossy(t, client) }); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := RaiseEpoch(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			was, is, err := recordsOf(kept, c)
			if err != nil || heads.Compare(was, is) != heads.Replaced {
				t.Errorf("restored: %s, %v", heads.Compare(was, is), err)
			}
			if err := serving(t, c, func(client *api.Client, _ string) {
				_, err := api.Get[*resource.Hold](t.Context(), client, "h1")
				if protocol.CodeOf(err) != protocol.CodeNotFound {
					t.Errorf("h1 afterwards: %v", err)
				}
				if all, err := api.GetAll[*resource.Hold](t.Context(), client); err != nil || len(all) > 0 {
					t.Errorf("holds afterwards: %d, %v", len(all), err)
				}
				if err := client.Ready(t.Context()); err != nil {
					t.Errorf("ready afterwards: %v", err)
				}
			}); err != nil {
				t.Fatal(err)
			}
			// An agent that enforces it says so, under its id.
			offline(t, c, func(st *store.Store) {
				hold := storetest.Hold("ha", "node/1", "n1")
				hold.Metadata.Name, hold.Status.Rack = "h1", "r1"
				if err := st.Objects.Put(t.Context(), hold); err != nil {
					t.Errorf("it cannot be adopted: %v", err)
				}
			})
		})
	}
}

// recordsOf are the checkpoints of two hubs.
func recordsOf(a, b Config) (heads.Checkpoint, heads.Checkpoint, error) {
	was, _, err := checkpoint.ReadRecord(a.path(headsFile))
	is, _, err2 := checkpoint.ReadRecord(b.path(headsFile))
	return was.Checkpoint, is.Checkpoint, errors.Join(err, err2)
}

// lossy holds a hub to what it may say of a hold that was lost.
func lossy(t *testing.T, client *api.Client) {
	t.Helper()
	says := func(what string, err error) {
		t.Helper()
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "rackboot-hub restored") {
			t.Errorf("%s: %v, hint %q", what, err, protocol.HintOf(err))
		}
	}
	ctx := t.Context()
	_, err := api.Get[*resource.Hold](ctx, client, "h1")
	says("get", err)
	_, err = client.Holds.Release(ctx, "h1", api.ReleaseRequest{})
	says("release", err)
	_, err = client.Holds.Create(ctx, "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "node/1", Mode: resource.StopHard}})
	says("fence", err)
	_, err = api.GetAll[*resource.Hold](ctx, client)
	lacks, incomplete := errors.AsType[*api.IncompleteError](err)
	if says("list", err); !incomplete || len(lacks.Incomplete.Lost) != 1 || lacks.Incomplete.Lost[0].Name != "h1" || !strings.Contains(lacks.Incomplete.Lost[0].Note, "n1") {
		t.Errorf("list: %+v", lacks)
	}
	_, err = api.GetAll[*resource.Claim](ctx, client)
	says("list of what has lost nothing that is known", err)
	says("readyz", client.Ready(ctx))
	found, err := client.Doctor(ctx)
	if err != nil || len(found.Findings) == 0 || found.Findings[0].Code != resource.CondStoreLost {
		t.Errorf("doctor: %+v, %v", found, err)
	}
}

// copied is a hub of its own with the files of another that does not run.
func copied(t *testing.T, c Config) Config {
	t.Helper()
	own := ownHub(t)
	if err := os.CopyFS(own.DataDir, os.DirFS(c.DataDir)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(own.DataDir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		info, err := os.Stat(filepath.Join(c.DataDir, strings.TrimPrefix(path, own.DataDir)))
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode())
	}); err != nil {
		t.Fatal(err)
	}
	return own
}

// What says how much there was may itself be damaged: that is no loss, and it is written anew.
func TestDamagedHeads(t *testing.T) {
	t.Parallel()
	c := heldHub(t)
	for _, text := range []string{"", "soon", "00000000 = {}\n"} {
		if err := os.WriteFile(c.path(headsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := serving(t, c, func(client *api.Client, _ string) {
			if _, err := api.Get[*resource.Hold](t.Context(), client, "h1"); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if r, _, err := checkpoint.ReadRecord(c.path(headsFile)); err != nil || !r.Whole || r.Keys["res.holds.h1"].Note == "" || r.Audit.Seq == 0 || r.Epoch != 1 {
			t.Errorf("%q: then %+v, %v", text, r.Checkpoint, err)
		}
	}
}

// Nothing of what stood in the file is gone when the hub has run again without anything to write, or with.
func TestHeadsGoOn(t *testing.T) {
	t.Parallel()
	c := heldHub(t)
	was, _, err := checkpoint.ReadRecord(c.path(headsFile))
	if err != nil || !was.Whole {
		t.Fatalf("%+v, %v", was.Checkpoint, err)
	}
	raw, err := os.ReadFile(c.path(headsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path(headsFile), append(raw, "12345678 + half a li"...), 0o600); err != nil {
		t.Fatal(err)
	}
	started(t, c)
	is, _, err := checkpoint.ReadRecord(c.path(headsFile))
	if err != nil || !is.Whole || is.Store != was.Store || heads.Compare(was.Checkpoint, is.Checkpoint) != heads.Onward || is.Keys["res.holds.h1"] != was.Keys["res.holds.h1"] {
		t.Errorf("%+v, then %+v, %v", was.Checkpoint, is.Checkpoint, err)
	}
	if _, err := RaiseEpoch(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	next, _, err := checkpoint.ReadRecord(c.path(headsFile))
	if err != nil || heads.Compare(is.Checkpoint, next.Checkpoint) != heads.Replaced {
		t.Errorf("restored: %+v, %v", next.Checkpoint, err)
	}
}
