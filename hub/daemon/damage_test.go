package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/hub/checkpoint"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// told is what a client is told of the hold that was there.
type told string

const (
	toldHold    told = "the hold"        // as it was
	toldNothing told = "unavailable"     // neither that it is there nor that it is not
	toldRefused told = "hub not started" // and says what to do
)

// damage is something that happens to a hub's folder.
type damage struct {
	name  string
	spoil func(t *testing.T, c *Config, other Config)
	// found are codes that check finds, among others; "" is that it finds nothing.
	found FindingCode
	told  told
}

func streamFile(stream, name string) string { return filepath.Join(streamsOf, stream, name) }

func remove(names ...string) func(*testing.T, *Config, Config) {
	return func(t *testing.T, c *Config, _ Config) {
		t.Helper()
		for _, name := range names {
			if err := os.RemoveAll(c.path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// edit changes a file.
func edit(name string, change func([]byte) []byte) func(*testing.T, *Config, Config) {
	return func(t *testing.T, c *Config, _ Config) {
		t.Helper()
		raw, err := os.ReadFile(c.path(name))
		if err == nil {
			err = os.WriteFile(c.path(name), change(raw), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// flip changes n bytes at a part of a file.
func flip(name string, part float64, n int) func(*testing.T, *Config, Config) {
	return edit(name, func(raw []byte) []byte {
		at := int(float64(len(raw)-1) * part)
		for i := at; i < min(at+n, len(raw)); i++ {
			raw[i] ^= 0x10
		}
		return raw
	})
}

func cut(name string, part float64) func(*testing.T, *Config, Config) {
	return edit(name, func(raw []byte) []byte { return raw[:int(float64(len(raw))*part)] })
}

func all(spoils ...func(*testing.T, *Config, Config)) func(*testing.T, *Config, Config) {
	return func(t *testing.T, c *Config, other Config) {
		t.Helper()
		for _, s := range spoils {
			s(t, c, other)
		}
	}
}

// holdAt is where the value of the hold lies in the block: as its key is found there last.
func flipHold(t *testing.T, c *Config, _ Config) {
	t.Helper()
	edit(streamFile(checkpoint.KVStream, "msgs/1.blk"), func(raw []byte) []byte {
		at := bytes.LastIndex(raw, []byte("rackboot.res.holds.h1"))
		if at < 0 {
			t.Fatal("there is no hold in the block")
		}
		raw[at+60] ^= 0x10
		return raw
	})(t, c, Config{})
}

func damages() []damage {
	kvBlock, kvIndex := streamFile(checkpoint.KVStream, "msgs/1.blk"), streamFile(checkpoint.KVStream, "msgs/index.db")
	logBlock, logIndex := streamFile(checkpoint.LogStream, "msgs/1.blk"), streamFile(checkpoint.LogStream, "msgs/index.db")
	rows := []damage{
		{"nothing", func(*testing.T, *Config, Config) {}, "", toldHold},
		{"kv block missing", remove(kvBlock), FoundLostKey, toldNothing},
		{"kv block cut", cut(kvBlock, 0.5), FoundLost, toldNothing},
		{"kv block emptied", cut(kvBlock, 0), FoundLostKey, toldNothing},
		{"kv block missing, and the index", remove(kvBlock, kvIndex), FoundLostKey, toldNothing},
		{"the hold's value flipped", flipHold, FoundLostKey, toldNothing},
		{"the hold's value flipped, and no index", all(flipHold, remove(kvIndex)), FoundLost, toldNothing},
		{"kv index missing", remove(kvIndex), FoundIndex, toldHold},
		{"kv index flipped", flip(kvIndex, 0.5, 1), "", toldHold},
		{"kv index emptied", cut(kvIndex, 0), "", toldHold},
		{"kv stream's description missing", remove(streamFile(checkpoint.KVStream, "meta.inf")), FoundIndex, toldHold},
		{"kv stream's description flipped", flip(streamFile(checkpoint.KVStream, "meta.inf"), 0.5, 1), "", toldHold},
		{"kv stream's sum missing", remove(streamFile(checkpoint.KVStream, "meta.sum")), FoundIndex, toldHold},
		{"kv stream's consumers missing", remove(streamFile(checkpoint.KVStream, "obs")), "", toldHold},
		{"kv stream gone", remove(filepath.Join(streamsOf, checkpoint.KVStream)), FoundLostKey, toldNothing},
		{"log stream gone", remove(filepath.Join(streamsOf, checkpoint.LogStream)), FoundLost, toldLossy},
		{"both streams gone", remove(streamsOf), FoundLostKey, toldNothing},
		{"store gone", remove("store"), FoundLostKey, toldNothing},
		{"store and checkpoint gone", remove("store", headsFile), FoundLost, toldNothing},
		{"log block missing", remove(logBlock), FoundLost, toldLossy},
		{"log block cut", cut(logBlock, 0.5), FoundLost, toldLossy},
		{"log block flipped", flip(logBlock, 0.5, 1), FoundUnread, toldHold},
		{"log block flipped, and no index", all(flip(logBlock, 0.5, 1), remove(logIndex)), FoundLost, toldLossy},
		{"log index missing", remove(logIndex), FoundIndex, toldHold},
		{"checkpoint missing", remove(headsFile), FoundMissing, toldHold},
		{"checkpoint flipped", flip(headsFile, 0.5, 1), FoundCheckpoint, toldHold},
		{"checkpoint emptied", cut(headsFile, 0), FoundCheckpoint, toldHold},
		{"checkpoint cut", cut(headsFile, 0.05), FoundCheckpoint, toldHold},
		{"an older checkpoint", older, "", toldHold},
		{"a newer checkpoint", newer, FoundLostKey, toldLossy},
		{"signing key missing", remove("pki/signing.pem"), FoundKeys, toldRefused},
		{"signing key flipped", flip("pki/signing.pem", 0.5, 1), FoundKeys, toldRefused},
		{"signing key of another hub", swap("pki/signing.pem"), FoundKeys, toldRefused},
		{"authority missing", remove("pki/ca.pem"), FoundKeys, toldRefused},
		{"authority flipped", flip("pki/ca.pem", 0.5, 1), FoundKeys, toldRefused},
		{"admin token missing", remove("pki/admin.token"), FoundMissing, toldHold},
		{"admin token cut", cut("pki/admin.token", 0.5), FoundKeys, toldRefused},
		{"secrets' key missing", remove("secrets.key"), FoundSecret, toldHold},
		{"secrets' key of another", swap("secrets.key"), FoundSecret, toldHold},
		{"audit segment missing", removeAudit, FoundAudit, toldHold},
		{"audit segment cut between entries", editAudit(func(raw []byte) []byte {
			return raw[:bytes.LastIndexByte(raw[:len(raw)-1], '\n')+1]
		}), FoundAudit, toldHold},
		{"audit segment cut within an entry", editAudit(func(raw []byte) []byte { return append(raw, `{"half a li`...) }), FoundTorn, toldHold},
		{"audit segment flipped", editAudit(func(raw []byte) []byte { raw[len(raw)/3] ^= 0x10; return raw }), FoundAudit, toldHold},
		{"another hub's store", swap("store"), FoundLostKey, toldNothing},
		{"another hub's checkpoint", swap(headsFile), FoundLost, toldLossy},
		{"a file that was half written", func(t *testing.T, c *Config, _ Config) {
			t.Helper()
			if err := os.WriteFile(c.path(".new-store.heads-123"), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, FoundUnfinished, toldHold},
	}
	for _, n := range []int{1, 50} {
		for where, part := range map[string]float64{"front": 0.02, "middle": 0.5, "end": 0.99} {
			rows = append(rows, damage{fmt.Sprintf("%d bytes flipped at the %s of the kv block", n, where), flip(kvBlock, part, n), "*", toldAny})
			rows = append(rows, damage{fmt.Sprintf("%d bytes flipped at the %s of the kv block, and no index", n, where), all(flip(kvBlock, part, n), remove(kvIndex)), "*", toldAny})
		}
	}
	return rows
}

const (
	// toldLossy is of a hub that has lost something else than the hold.
	toldLossy told = "the hold, of a hub that only reads"
	toldAny   told = "the hold or unavailable"
)

func swap(name string) func(*testing.T, *Config, Config) {
	return func(t *testing.T, c *Config, other Config) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(c.path(name)), copyTree(other.path(name), c.path(name))); err != nil {
			t.Fatal(err)
		}
	}
}

func older(t *testing.T, c *Config, _ Config) {
	t.Helper()
	raw, err := os.ReadFile(c.path(headsFile))
	if err != nil {
		t.Fatal(err)
	}
	offline(t, *c, func(st *store.Store) {
		if err := st.Meta.Put(t.Context(), "later", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.WriteFile(c.path(headsFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newer leaves a store that is older than its checkpoint: a copy of it was put back.
func newer(t *testing.T, c *Config, _ Config) {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "store")
	if err := copyTree(c.path("store"), kept); err != nil {
		t.Fatal(err)
	}
	offline(t, *c, func(st *store.Store) {
		if err := st.Meta.Put(t.Context(), "later", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
	})
	if err := errors.Join(os.RemoveAll(c.path("store")), copyTree(kept, c.path("store"))); err != nil {
		t.Fatal(err)
	}
}

func auditSegment(t *testing.T, c *Config) string {
	t.Helper()
	files, err := filepath.Glob(c.path("audit/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	return filepath.Join("audit", filepath.Base(slices.Max(files)))
}

func removeAudit(t *testing.T, c *Config, other Config) { remove(auditSegment(t, c))(t, c, other) }

func editAudit(change func([]byte) []byte) func(*testing.T, *Config, Config) {
	return func(t *testing.T, c *Config, other Config) { edit(auditSegment(t, c), change)(t, c, other) }
}

// Whatever happens to a hub's folder: check says so, the hub starts or says what to do, and nobody is told that a hold
// which was there is not.
func TestDamage(t *testing.T) {
	t.Parallel()
	kept, other := secretHub(t, "5e", "h1"), secretHub(t, "6f", "h9")
	if found, err := Check(t.Context(), kept, CheckOptions{Deep: true}); err != nil || len(found) > 0 {
		t.Fatalf("before anything: %+v, %v", found, err)
	}
	// They wait for disks and for what does not come, so more of them are run at once than there are processors.
	places := make(chan struct{}, 16)
	var rows sync.WaitGroup
	for _, d := range damages() {
		rows.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(d.name, func(t *testing.T) {
				c := copied(t, kept)
				c.Secrets.KeyFile = c.path("secrets.key")
				d.spoil(t, &c, other)
				checks(t, c, d)
				starts(t, c, d)
			})
		})
	}
	rows.Wait()
}

// checks looks what check finds, and that it changes nothing.
func checks(t *testing.T, c Config, d damage) {
	t.Helper()
	before := treeOf(t, c.DataDir)
	found, err := Check(t.Context(), c, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after := treeOf(t, c.DataDir); after != before {
		t.Errorf("check has changed the folder:\n%s\nbefore:\n%s", after, before)
	}
	has := slices.ContainsFunc(found, func(f Finding) bool { return f.Code == d.found })
	if d.found == "" && len(found) > 0 || d.found == "*" && len(found) == 0 || d.found != "" && d.found != "*" && !has {
		t.Errorf("check finds %+v, want %q", found, d.found)
	}
	for _, f := range found {
		if f.What == "" || f.Where == "" || f.Do == "" || strings.Contains(f.What+f.Do, "rackboot-check-") {
			t.Errorf("a finding that helps nobody: %+v", f)
		}
	}
}

// starts looks how the hub starts, and what it says of the hold.
func starts(t *testing.T, c Config, d damage) {
	t.Helper()
	said := told("")
	err := serving(t, c, func(client *api.Client, _ string) {
		h, err := api.Get[*resource.Hold](t.Context(), client, "h1")
		all, listErr := api.GetAll[*resource.Hold](t.Context(), client)
		listed := slices.ContainsFunc(all, func(h *resource.Hold) bool { return h.Metadata.Name == "h1" })
		reads := protocol.CodeOf(client.Ready(t.Context())) == protocol.CodeUnavailable
		switch {
		case err == nil && h.Spec.Server == "n1" && listed && !reads:
			said = toldHold
		case err == nil && h.Spec.Server == "n1" && listed:
			said = toldLossy
		case protocol.CodeOf(err) == protocol.CodeUnavailable && protocol.HintOf(err) != "" && !listed && protocol.CodeOf(listErr) == protocol.CodeUnavailable:
			said = toldNothing
		default:
			t.Errorf("told of the hold: %v; listed %t, %v", err, listed, listErr)
		}
	})
	if err != nil {
		if said = toldRefused; protocol.HintOf(err) == "" {
			t.Errorf("it does not start, and does not say what to do: %v", err)
		}
	}
	if said != d.told && (d.told != toldAny || said == toldRefused) {
		t.Errorf("told %s, want %s (%v)", said, d.told, err)
	}
}

// treeOf names every file of a folder with its size, and when it was changed.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(&out, "%s %d %s\n", strings.TrimPrefix(path, dir), info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// secretHub is heldHub with a Secret, events, and keys of its own.
func secretHub(t *testing.T, key, hold string) Config {
	t.Helper()
	c := ownHub(t)
	if err := os.WriteFile(c.path("secrets.key"), []byte(strings.Repeat(key, 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Secrets.KeyFile = c.path("secrets.key")
	fill(t, c, hold)
	if err := serving(t, c, func(client *api.Client, _ string) {
		secret := resource.NewObject(resource.KindSecret).(*resource.Secret)
		secret.Spec = resource.SecretSpec{Type: resource.SecretBMC, Data: resource.SecretData{resource.SecretUsername: resource.Plain("root"), resource.SecretPassword: resource.Plain("calvin")}}
		secret.Default()
		secret.Metadata.Name = "bmc"
		if _, err := client.Objects.Apply(context.Background(), []resource.Object{secret}, false); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return c
}
