package daemon

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
)

// stopped is the folder of an agent that has joined, held a server, and was stopped.
func stopped(t *testing.T) Config {
	t.Helper()
	c := Config{DataDir: t.TempDir()}
	id := joined(t)
	id.Key = make([]byte, ed25519.SeedSize)
	if err := id.save(c.DataDir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := sealKey(c.DataDir); err != nil {
		t.Fatal(err)
	}
	db, err := badger.Open(badger.Config{Dir: c.path("state"), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Config{DB: db, NewID: func() string { return "one" }})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Events.Append(resource.Event{At: time.Unix(1, 0), Server: "n1", Code: resource.EventFenced}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Update(func(x state.Txn) error { return x.Set("lease/boot/10.0.0.1", []byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	a, _, err := openAnchor(c.DataDir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.take(s), a.close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return c
}

// Each damage of a stopped agent's folder is found, with its name, and nothing is changed by
// looking; what is whole has none.
func TestCheck(t *testing.T) {
	write := func(name, text string) func(t *testing.T, c Config) {
		return func(t *testing.T, c Config) { must(t, os.WriteFile(c.path(name), []byte(text), 0o600)) }
	}
	inStore := func(fn func(x state.Txn) error) func(t *testing.T, c Config) {
		return func(t *testing.T, c Config) {
			db, err := badger.Open(badger.Config{Dir: c.path("state"), MinFree: 1})
			must(t, err)
			must(t, errors.Join(db.Update(fn), db.Close()))
		}
	}
	for name, row := range map[string]struct {
		damage func(t *testing.T, c Config)
		want   []FindingCode
	}{
		"whole":                     {func(*testing.T, Config) {}, nil},
		"no identity":               {func(t *testing.T, c Config) { must(t, os.Remove(identityPath(c.DataDir))) }, []FindingCode{FoundIdentity}},
		"identity is no JSON":       {write("identity/agent.json", "{"), []FindingCode{FoundIdentity}},
		"identity without its pair": {write("identity/agent.json", `{"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`), []FindingCode{FoundIdentity}},
		"seal key":                  {write("identity/seal.key", "x"), []FindingCode{FoundSealKey}},
		"no store":                  {func(t *testing.T, c Config) { must(t, os.RemoveAll(c.path("state"))) }, []FindingCode{FoundLoss, FoundMissing}},
		"no manifest":               {func(t *testing.T, c Config) { must(t, os.Remove(c.path("state/MANIFEST"))) }, []FindingCode{FoundUnopened}},
		"an event is gone":          {inStore(func(x state.Txn) error { return x.Delete("event/00000000000000000002") }), []FindingCode{FoundLoss}},
		"an event cannot be read":   {inStore(func(x state.Txn) error { return x.Set("event/00000000000000000002", []byte("x")) }), []FindingCode{FoundLoss, FoundUnreadable}},
		"the incarnation is gone":   {inStore(func(x state.Txn) error { return x.Delete("meta/incarnation") }), []FindingCode{FoundLoss, FoundMissing}},
		"a lease cannot be read":    {inStore(func(x state.Txn) error { return x.Set("lease/boot/10.0.0.1", []byte("x")) }), []FindingCode{FoundUnreadable}},
		"one slot of what is known": {write(anchorName+".0", "x"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := stopped(t)
			row.damage(t, c)
			before := listed(t, c.DataDir)
			found, err := Check(c)
			if err != nil {
				t.Fatal(err)
			}
			var codes []FindingCode
			for _, f := range found {
				if f.Where == "" || f.Text == "" || f.Do == "" {
					t.Errorf("%+v does not say all", f)
				}
				if !slices.Contains(codes, f.Code) {
					codes = append(codes, f.Code)
				}
			}
			if !slices.Equal(codes, row.want) {
				t.Errorf("found %+v, want %v", found, row.want)
			}
			if after := listed(t, c.DataDir); !slices.Equal(before, after) {
				t.Errorf("files before %v, after %v", before, after)
			}
		})
	}
}

// A file of authorities that would vouch for no TPM is found, before the agent is started with it.
func TestCheckTPMAuthorities(t *testing.T) {
	c := stopped(t)
	c.TPMAuthorities = c.path("authorities.pem")
	must(t, os.WriteFile(c.TPMAuthorities, []byte("no certificate"), 0o600))
	found, err := Check(c)
	if err != nil || len(found) != 1 || found[0].Code != FoundTPMRoots || found[0].Where != c.TPMAuthorities || found[0].Do == "" {
		t.Errorf("%+v, %v", found, err)
	}
	must(t, os.Remove(c.TPMAuthorities))
	if found, err = Check(c); err != nil || len(found) != 1 || found[0].Do == "" {
		t.Errorf("without the file: %+v, %v", found, err)
	}
}

// A running agent is not looked at.
func TestCheckOfARunningAgent(t *testing.T) {
	c := stopped(t)
	db, err := badger.Open(badger.Config{Dir: c.path("state"), MinFree: 1})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	if _, err := Check(c); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("it was checked: %v", err)
	}
}

// listed are the files of a folder with their sizes and times.
func listed(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all = append(all, path+info.ModTime().String()+info.Mode().String())
		}
		return err
	}))
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
