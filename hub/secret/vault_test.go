package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "canary-9f1c"

// keys are a hub's variables with keys: each name gives a key of its own.
func keys(name string) string {
	if !strings.HasPrefix(name, "KEY") {
		return ""
	}
	return fmt.Sprintf("%064x", name)
}

func env(name string) Source { return Source{Env: name} }

// opened is a vault over a store, as a hub that starts has them.
func opened(t *testing.T, mem *storetest.Memory, cfg Config) (*Vault, *store.Store) {
	t.Helper()
	cfg.Getenv, cfg.Logger, cfg.Registerer = keys, slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	v := New(cfg)
	ids := 0
	s, err := store.Open(t.Context(), store.Config{
		KV: mem, Log: mem, Clock: func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }, Vault: v,
		NewID: func() string { ids++; return fmt.Sprintf("uid%d", ids) },
	})
	if err != nil {
		t.Fatal(err)
	}
	v.Start(t.Context(), s.Secrets, s.Meta)
	return v, s
}

func with(name string, previous ...string) Config {
	current := env(name)
	c := Config{Current: &current}
	for _, p := range previous {
		c.Previous = append(c.Previous, env(p))
	}
	return c
}

func generic(name, value string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretGeneric, Data: resource.SecretData{"a": resource.Plain(value)}}}
	s.Metadata.Name = name
	s.Default()
	return s
}

func set(t *testing.T, s *store.Store, name, value string) error {
	t.Helper()
	_, err := s.Sets.Apply(t.Context(), []resource.Object{generic(name, value)}, store.ApplyOptions{})
	return err
}

func read(t *testing.T, v *Vault, s *store.Store, name string) (string, error) {
	t.Helper()
	stored, err := s.Secrets.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := v.Open(stored)
	return string(data["a"]), err
}

// Each row is what the next start of the hub has, over a store whose secrets are under
// KEY1.
func TestKeysOfTheNextStart(t *testing.T) {
	for _, row := range []struct {
		name     string
		cfg      Config
		readable bool
		write    protocol.Code // of writing another
	}{
		{"the same", with("KEY1"), true, ""},
		{"another", with("KEY2"), false, protocol.CodeUnavailable},
		{"another, with the old one listed", with("KEY2", "KEY1"), true, ""},
		{"another, with a wrong one listed", with("KEY2", "KEY3"), false, protocol.CodeUnavailable},
		{"another, with one listed that cannot be had", with("KEY2", "NONE", "KEY1"), true, ""},
		{"none", Config{}, false, protocol.CodeUnavailable},
		{"one that cannot be had", with("NONE"), false, protocol.CodeUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			mem := storetest.NewMemory()
			_, s := opened(t, mem, with("KEY1"))
			if err := set(t, s, "old", canary); err != nil {
				t.Fatal(err)
			}
			v, s := opened(t, mem, row.cfg)
			got, err := read(t, v, s, "old")
			if row.readable != (err == nil && got == canary) {
				t.Errorf("read %q, %v", got, err)
			}
			if err != nil && (protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "") {
				t.Errorf("%q, hint %q", err, protocol.HintOf(err))
			}
			err = set(t, s, "new", canary)
			if protocol.CodeOf(err) != row.write || err != nil && (protocol.HintOf(err) == "" || strings.Contains(err.Error(), canary)) {
				t.Errorf("written: %v, hint %q", err, protocol.HintOf(err))
			}
			// Whatever it was, nothing is lost: the first key still reads the old one, or
			// the new one does.
			last := with("KEY1", "KEY2")
			if row.readable && row.cfg.Current.Env == "KEY2" {
				last = with("KEY2") // everything was put under it
			}
			v, s = opened(t, mem, last)
			if got, err := read(t, v, s, "old"); err != nil || got != canary {
				t.Errorf("afterwards: %q, %v", got, err)
			}
		})
	}
}

// A digest stays the same over a rotation, and is another hub's for the same data.
func TestDigest(t *testing.T) {
	mem := storetest.NewMemory()
	v, _ := opened(t, mem, with("KEY1"))
	data := resource.SecretData{"a": resource.Plain(canary)}
	first, err := v.Digest("s", resource.SecretGeneric, data)
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]func() (string, error){
		"other data": func() (string, error) {
			return v.Digest("s", resource.SecretGeneric, resource.SecretData{"a": resource.Plain("x")})
		},
		"other type":     func() (string, error) { return v.Digest("s", resource.SecretIgnition, data) },
		"another secret": func() (string, error) { return v.Digest("t", resource.SecretGeneric, data) },
		"other name": func() (string, error) {
			return v.Digest("s", resource.SecretGeneric, resource.SecretData{"b": resource.Plain(canary)})
		},
		"another hub": func() (string, error) {
			v, _ := opened(t, storetest.NewMemory(), with("KEY1"))
			return v.Digest("s", resource.SecretGeneric, data)
		},
	} {
		if got, err := other(); err != nil || got == first {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	v, _ = opened(t, mem, with("KEY2", "KEY1"))
	if got, err := v.Digest("s", resource.SecretGeneric, data); err != nil || got != first {
		t.Errorf("after a rotation: %q, %v", got, err)
	}
}

// A rotation that dies in the middle is done by the next start, whichever write it was.
func TestRotationCutShort(t *testing.T) {
	for dies := 1; dies <= 4; dies++ {
		mem := storetest.NewMemory()
		_, s := opened(t, mem, with("KEY1"))
		for i := range 3 {
			if err := set(t, s, fmt.Sprintf("s%d", i), canary); err != nil {
				t.Fatal(err)
			}
		}
		writes := 0
		mem.BeforeWrite = func(string) error {
			if writes++; writes >= dies {
				return fmt.Errorf("the disk is gone")
			}
			return nil
		}
		opened(t, mem, with("KEY2", "KEY1"))
		if writes < dies {
			t.Fatalf("write %d did not come", dies)
		}
		mem.BeforeWrite = nil
		if v, _ := opened(t, mem, with("KEY2", "KEY1")); v.Problem() != nil {
			t.Error(v.Problem())
		}
		v, s := opened(t, mem, with("KEY2"))
		for i := range 3 {
			if got, err := read(t, v, s, fmt.Sprintf("s%d", i)); err != nil || got != canary {
				t.Errorf("death at write %d, secret %d: %q, %v", dies, i, got, err)
			}
		}
	}
}

// While the hub runs: a key that cannot be had leaves those that are in use.
func TestRekey(t *testing.T) {
	mem := storetest.NewMemory()
	cfg := with("KEY1")
	variables := map[string]string{"KEY1": keys("KEY1"), "KEY2": keys("KEY2")}
	v, s := opened(t, mem, cfg)
	v.cfg.Getenv = func(name string) string { return variables[name] }
	if err := set(t, s, "a", canary); err != nil {
		t.Fatal(err)
	}
	delete(variables, "KEY1")
	if _, err := v.Rekey(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("without a key: %v", err)
	}
	if got, err := read(t, v, s, "a"); err != nil || got != canary || v.Problem() != nil {
		t.Errorf("what was in use is not any more: %q, %v, %v", got, err, v.Problem())
	}
	variables["KEY1"] = keys("KEY2") // another key in the same place, the old one in another
	v.cfg.Previous = []Source{env("OLD")}
	variables["OLD"] = keys("KEY1")
	done, err := v.Rekey(t.Context())
	if err != nil || done.Rewrapped != 1 || done.Secrets != 1 || done.Unreadable != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = v.Rekey(t.Context()); err != nil || done.Rewrapped != 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
	if _, err := New(Config{Getenv: keys, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()}).Rekey(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("no key at all: %v", err)
	}
}

// An envelope opens as the version of the Secret that it was made for, or not at all.
func TestMovedEnvelopes(t *testing.T) {
	v, s := opened(t, storetest.NewMemory(), with("KEY1"))
	if err := set(t, s, "a", canary); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Secrets.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	flip := func(field string) func(*store.StoredSecret) {
		return func(x *store.StoredSecret) {
			var e envelope
			if err := json.Unmarshal(x.Envelope, &e); err != nil {
				t.Fatal(err)
			}
			part := map[string][]byte{"sealed": e.Sealed, "data": e.Data}[field]
			part[len(part)/2] ^= 1
			if x.Envelope, err = json.Marshal(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name   string
		change func(*store.StoredSecret)
		code   protocol.Code
	}{
		{"as it is", func(*store.StoredSecret) {}, ""},
		{"another name", func(x *store.StoredSecret) { x.Name = "b" }, protocol.CodeInternal},
		{"a later one of the name", func(x *store.StoredSecret) { x.UID = "other" }, protocol.CodeInternal},
		{"as the next version", func(x *store.StoredSecret) { x.Version++ }, protocol.CodeInternal},
		{"a flipped bit of the data key", flip("sealed"), protocol.CodeInternal},
		{"a flipped bit of the data", flip("data"), protocol.CodeInternal},
		{"no envelope", func(x *store.StoredSecret) { x.Envelope = []byte("{") }, protocol.CodeInternal},
		{"a newer format", func(x *store.StoredSecret) { x.Envelope = []byte(`{"format":2}`) }, protocol.CodeUnsupported},
		{"another key", func(x *store.StoredSecret) { x.Envelope = []byte(`{"format":1,"key":"00"}`) }, protocol.CodeUnavailable},
	} {
		x := stored
		row.change(&x)
		_, err := v.Open(x)
		if protocol.CodeOf(err) != row.code || err != nil && (protocol.HintOf(err) == "" || strings.Contains(err.Error(), canary)) {
			t.Errorf("%s: %v, hint %q; want %q", row.name, err, protocol.HintOf(err), row.code)
		}
	}
}

func TestMetrics(t *testing.T) {
	mem := storetest.NewMemory()
	_, s := opened(t, mem, with("KEY1"))
	if err := set(t, s, "a", canary); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		cfg                            Config
		readable, unreadable, writable int
	}{{with("KEY1"), 1, 0, 1}, {with("KEY2"), 0, 1, 0}, {Config{}, 0, 1, 0}} {
		v, _ := opened(t, mem, row.cfg)
		want := fmt.Sprintf("# HELP rackboot_hub_secrets Secrets in the hub's store, by whether their key-encryption key is there.\n# TYPE rackboot_hub_secrets gauge\n"+
			"rackboot_hub_secrets{state=\"readable\"} %d\nrackboot_hub_secrets{state=\"unreadable\"} %d\n"+
			"# HELP rackboot_hub_secrets_writable 1 while secrets can be encrypted, else 0.\n# TYPE rackboot_hub_secrets_writable gauge\nrackboot_hub_secrets_writable %d\n",
			row.readable, row.unreadable, row.writable)
		if err := testutil.GatherAndCompare(v.cfg.Registerer.(*prometheus.Registry), strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	}
}

// A key that could not be had at the start is had later, without a restart.
func TestRunTriesAgain(t *testing.T) {
	mem := storetest.NewMemory()
	v, s := opened(t, mem, with("NONE"))
	if err := set(t, s, "a", canary); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Fatalf("written without a key: %v", err)
	}
	v.cfg.Getenv = func(string) string { return keys("KEY1") }
	ctx, cancel := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	done := make(chan error, 1)
	go func() { done <- v.run(ctx, ticks) }()
	ticks <- time.Time{}
	ticks <- time.Time{} // the first was worked on
	if err := set(t, s, "a", canary); err != nil {
		t.Errorf("written with one: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
