package loaders

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/chain"
	"rackboot/protocol"
)

// executable is an EFI executable for amd64 as far as a look at its header tells.
func executable(content string) []byte {
	b := make([]byte, 0x40+24+40)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00\x64\x86\x01\x00")
	binary.LittleEndian.PutUint32(b[0x40+24+16:], uint32(len(content)))
	binary.LittleEndian.PutUint32(b[0x40+24+20:], uint32(len(b)))
	return append(b, content...)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// fakeBlobs counts pins, and can be full.
type fakeBlobs struct {
	mu    sync.Mutex
	blobs map[string][]byte
	pins  map[string]int
	full  bool
}

func (f *fakeBlobs) Has(d string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blobs[d] != nil
}

func (f *fakeBlobs) Write(_ context.Context, d string, _ int64, r io.Reader) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return errors.New("no space left")
	}
	b, err := io.ReadAll(r)
	if err == nil && digestOf(b) != d {
		err = errors.New("wrong digest")
	}
	f.blobs[d] = b
	return err
}

func (f *fakeBlobs) Verify(_ context.Context, d string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if digestOf(f.blobs[d]) != d {
		return errors.New("damaged")
	}
	return nil
}

func (f *fakeBlobs) Pin(d string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pins[d]++
	return nil
}

func (f *fakeBlobs) Unpin(d string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pins[d]--; f.pins[d] < 0 {
		return errors.New("not pinned")
	}
	return nil
}

// fakeStore is a disk that can fail.
type fakeStore struct {
	mu   sync.Mutex
	set  chain.Set
	full bool
}

func (f *fakeStore) InUse() (chain.Set, error) { return f.set, nil }

func (f *fakeStore) Put(set chain.Set) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return errors.New("no space left")
	}
	f.set = set
	return nil
}

// bench is a site with one folder.
type bench struct {
	t       *testing.T
	mu      sync.Mutex
	folder  string
	blobs   *fakeBlobs
	store   *fakeStore
	changes int
	failed  error
	loaders *Loaders
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, folder: t.TempDir(), blobs: &fakeBlobs{blobs: map[string][]byte{}, pins: map[string]int{}}, store: &fakeStore{}}
}

func (b *bench) write(name string, content []byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, name), content, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// start is a start of the agent. It runs until stop.
func (b *bench) start() (stop func()) {
	b.t.Helper()
	for d := range b.blobs.pins {
		b.blobs.pins[d] = 0 // they are in memory
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	l, err := New(ctx, Config{
		Folders: map[string][]string{"amd64": {b.folder}}, Blobs: b.blobs, Store: b.store,
		Changed: func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.changes++
		},
		Failed: func(err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.failed = err
		},
		Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.loaders = l
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// wait lets time pass. What the test did before happens before what the loop does then.
func (b *bench) wait(d time.Duration) {
	for _, mu := range []*sync.Mutex{&b.mu, &b.blobs.mu, &b.store.mu} {
		mu.Lock()
		mu.Unlock() //nolint:staticcheck // orders, and guards nothing
	}
	time.Sleep(d)
	synctest.Wait()
}

// uses says which content is in use as shim; empty is none.
func (b *bench) uses(role chain.Role) string {
	l := b.loaders.Set()["amd64"][role]
	if l.Digest == "" {
		return ""
	}
	if b.blobs.pins[l.Digest] == 0 {
		b.t.Errorf("%s is in use and not pinned", role)
	}
	content := b.blobs.blobs[l.Digest]
	return string(content[len(executable("")):])
}

func TestTakesWhatIsThereAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write("shimx64.efi.signed", executable("shim 1"))
		b.write("grubnetx64.efi.signed", executable("grub 1"))
		b.write("grubx64.efi.signed", executable("for disks"))
		b.write("README", []byte("no loader"))
		defer b.start()()
		if b.uses(chain.RoleShim) != "shim 1" || b.uses(chain.RoleGRUB) != "grub 1" || b.uses(chain.RoleIPXE) != "" || b.failed != nil {
			t.Errorf("in use: %+v, failed %v", b.loaders.Set(), b.failed)
		}
	})
}

// P8: a change is taken as a whole, when two looks agree on it; what does not come to
// rest is not taken.
func TestChangeIsTakenWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write("shimx64.efi", executable("shim 1"))
		b.write("grubx64.efi", executable("grub 1"))
		defer b.start()()
		b.wait(time.Second)
		b.write("shimx64.efi", executable("shim two"))
		b.wait(lookEvery)
		if b.uses(chain.RoleShim) != "shim 1" {
			t.Error("what one look saw is in use")
		}
		b.write("grubx64.efi", executable("grub two"))
		b.wait(settle)
		if b.uses(chain.RoleShim) != "shim 1" || b.uses(chain.RoleGRUB) != "grub 1" {
			t.Error("half of a change is in use")
		}
		before := b.changes
		b.wait(settle)
		if b.uses(chain.RoleShim) != "shim two" || b.uses(chain.RoleGRUB) != "grub two" || b.changes != before+1 {
			t.Errorf("%s and %s after %d changes", b.uses(chain.RoleShim), b.uses(chain.RoleGRUB), b.changes-before)
		}
		// A boot that was begun before may still need the old ones.
		if b.blobs.pins[digestOf(executable("shim 1"))] != 1 {
			t.Error("the old shim may be removed at once")
		}
		b.wait(keepOld + lookEvery)
		if b.blobs.pins[digestOf(executable("shim 1"))] != 0 || b.blobs.pins[digestOf(executable("shim two"))] != 1 {
			t.Errorf("pins %v", b.blobs.pins)
		}
	})
}

// What cannot be used changes nothing, also across a restart, and is named.
func TestFailureKeepsTheSet(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(b *bench)
		want  string
		mend  func(b *bench)
	}{
		{"cut off", func(b *bench) { b.write("shimx64.efi", executable("shim two")[:100]) }, "shimx64.efi", nil},
		{"another architecture", func(b *bench) {
			c := executable("shim two")
			c[0x44], c[0x45] = 0x64, 0xaa
			b.write("shimx64.efi", c)
		}, "another architecture", nil},
		{"the folder is gone", func(b *bench) {
			if err := os.Rename(b.folder, b.folder+"-away"); err != nil {
				t.Fatal(err)
			}
		}, "no such file", func(b *bench) {
			if err := os.Rename(b.folder+"-away", b.folder); err != nil {
				t.Fatal(err)
			}
		}},
		{"the blob store is full", func(b *bench) {
			b.blobs.full = true
			b.write("shimx64.efi", executable("shim two"))
		}, "no space left", func(b *bench) { b.blobs.full = false }},
		{"the disk is full", func(b *bench) {
			b.store.full = true
			b.write("shimx64.efi", executable("shim two"))
		}, "no space left", func(b *bench) { b.store.full = false }},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.write("shimx64.efi", executable("shim 1"))
				stop := b.start()
				row.spoil(b)
				b.wait(3 * lookEvery)
				if b.uses(chain.RoleShim) != "shim 1" || b.failed == nil || !strings.Contains(b.failed.Error(), row.want) {
					t.Errorf("in use %q, failed %v", b.uses(chain.RoleShim), b.failed)
				}
				stop()
				b.failed = nil
				stop = b.start()
				b.wait(3 * lookEvery)
				if b.uses(chain.RoleShim) != "shim 1" || b.failed == nil {
					t.Errorf("after a restart: in use %q, failed %v", b.uses(chain.RoleShim), b.failed)
				}
				if row.mend != nil {
					row.mend(b)
				}
				b.write("shimx64.efi", executable("shim three"))
				b.wait(3 * lookEvery)
				stop()
				if b.uses(chain.RoleShim) != "shim three" || b.failed != nil {
					t.Errorf("mended: in use %q, failed %v", b.uses(chain.RoleShim), b.failed)
				}
			})
		})
	}
}

// A set of which a file was damaged is not used.
func TestDamagedSetIsNotTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write("shimx64.efi", executable("shim 1"))
		b.start()()
		d := b.loaders.Set()["amd64"][chain.RoleShim].Digest
		b.blobs.blobs[d] = []byte("damaged")
		b.write("shimx64.efi", []byte("damaged too"))
		defer b.start()()
		if len(b.loaders.Set()) != 0 || b.failed == nil {
			t.Errorf("in use %v, failed %v", b.loaders.Set(), b.failed)
		}
	})
}

func TestTooLarge(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "ipxe.efi")
	if err := os.WriteFile(path, executable(""), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, chain.MaxLoader+1); err != nil {
		t.Fatal(err)
	}
	_, err := scan(map[string][]string{"amd64": {folder}})
	if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

// The first folder that has a file for a role gives it, whatever its name.
func TestFoldersInOrder(t *testing.T) {
	own, theirs := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		filepath.Join(own, "ipxe.efi"): "own", filepath.Join(theirs, "snponly.efi"): "package's", filepath.Join(theirs, "shimx64.efi"): "shim",
	} {
		if err := os.WriteFile(path, executable(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := scan(map[string][]string{"amd64": {own, theirs}})
	if err != nil {
		t.Fatal(err)
	}
	set := f.set()["amd64"]
	if set[chain.RoleIPXE].Path != filepath.Join(own, "ipxe.efi") || set[chain.RoleShim].Path != filepath.Join(theirs, "shimx64.efi") {
		t.Errorf("%+v", set)
	}
}
