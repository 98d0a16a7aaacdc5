package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rackboot/hub/checkpoint"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// What follows from what is there is made anew, after it was said; a dry run does nothing, and what was lost stays as it
// is for whoever has more.
func TestRepair(t *testing.T) {
	t.Parallel()
	kept := heldHub(t)
	for name, row := range map[string]struct {
		spoil func(t *testing.T, c *Config, other Config)
		steps int
		left  FindingCode // "" is nothing
	}{
		"nothing":              {func(*testing.T, *Config, Config) {}, 0, ""},
		"an index":             {remove(streamFile(checkpoint.KVStream, "msgs/index.db")), 1, ""},
		"a description":        {remove(streamFile(checkpoint.LogStream, "meta.sum")), 2, ""},
		"a checkpoint":         {remove(headsFile), 1, ""},
		"a flipped checkpoint": {flip(headsFile, 0.2, 1), 1, ""},
		"what is public":       {remove(caCopy, hubKeyFile), 2, ""},
		"a crash's leavings": {all(func(t *testing.T, c *Config, _ Config) {
			t.Helper()
			if err := os.WriteFile(c.path("pki/.new-ca.pem-7"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, editAudit(func(raw []byte) []byte { return append(raw, "half"...) })), 2, ""},
		"a lost block, and an index": {remove(streamFile(checkpoint.KVStream, "msgs/1.blk"), streamFile(checkpoint.LogStream, "msgs/index.db")), 0, FoundLost},
		"a flipped hold":             {flipHold, 0, FoundLostKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := copied(t, kept)
			row.spoil(t, &c, kept)
			before := treeOf(t, c.DataDir)
			said := 0
			if _, err := Repair(t.Context(), c, CheckOptions{}, true, func(string) { said++ }); err != nil || said != row.steps {
				t.Errorf("dry: %d steps, %v", said, err)
			}
			if after := treeOf(t, c.DataDir); after != before {
				t.Errorf("a dry run has changed the folder:\n%s\nbefore:\n%s", after, before)
			}
			said = 0
			left, err := Repair(t.Context(), c, CheckOptions{}, false, func(string) { said++ })
			if err != nil || said != row.steps {
				t.Errorf("%d steps, %v", said, err)
			}
			if has := slices.ContainsFunc(left, func(f Finding) bool { return f.Code == row.left }); row.left == "" && len(left) > 0 || row.left != "" && !has {
				t.Errorf("left: %+v", left)
			}
			if row.steps == 0 {
				if after := treeOf(t, c.DataDir); after != before {
					t.Errorf("what cannot be mended was changed:\n%s\nbefore:\n%s", after, before)
				}
				return
			}
			if err := serving(t, c, func(client *api.Client, _ string) {
				if _, err := api.Get[*resource.Hold](t.Context(), client, "h1"); err != nil {
					t.Error(err)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if torn, err := filepath.Glob(c.path("audit/*.torn")); err != nil || len(torn) > 0 != (name == "a crash's leavings") {
				t.Errorf("%v, %v", torn, err)
			}
		})
	}
}

// A rule's key that was taken away is found, and made anew.
func TestRepairRules(t *testing.T) {
	t.Parallel()
	c := heldHub(t)
	withKV(t, c, func(kv state.KV) {
		live, _, err := kv.List(t.Context(), "rule.")
		if err != nil || len(live) == 0 {
			t.Fatalf("%d rules, %v", len(live), err)
		}
		if err := kv.Delete(t.Context(), live[0].Key, live[0].Revision); err != nil {
			t.Fatal(err)
		}
	})
	found, err := Check(t.Context(), c, CheckOptions{})
	if err != nil || len(found) != 1 || found[0].Code != FoundRule {
		t.Fatalf("%+v, %v", found, err)
	}
	if left, err := Repair(t.Context(), c, CheckOptions{}, false, func(string) {}); err != nil || len(left) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

// The contents of what is kept by digest are read where that is asked for.
func TestCheckDeep(t *testing.T) {
	t.Parallel()
	c := heldHub(t)
	good, bad := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "0000000000000000000000000000000000000000000000000000000000000000"
	for _, dir := range []string{"isos", "registry"} {
		if err := os.MkdirAll(c.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{good, bad} {
			if err := os.WriteFile(filepath.Join(c.path(dir), name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for deep, want := range map[bool]int{false: 0, true: 2} {
		if found, err := Check(t.Context(), c, CheckOptions{Deep: deep}); err != nil || len(found) != want {
			t.Errorf("deep %t: %+v, %v", deep, found, err)
		}
	}
}
