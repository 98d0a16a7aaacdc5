package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/backup/setting"
	"rackboot/hub/broker"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// copiedHub is a hub's folder that a hub has run on, and a backup of it.
func copiedHub(t *testing.T, dir string) (c Config, raw []byte) {
	t.Helper()
	c = Config{DataDir: filepath.Join(dir, "hub"), API: "127.0.0.1:0", MQTT: "127.0.0.1:0", Names: []string{"127.0.0.1"}, Keeping: Keeping{Backup: setting.Backup{Plain: true}}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: cancel}); err != nil {
		t.Fatal(err)
	}
	return c, offlineBackup(t, c, nil)
}

// offlineBackup makes a backup of a folder on which no hub runs.
func offlineBackup(t *testing.T, c Config, fill func(kv *jetstream.KV)) []byte {
	t.Helper()
	var out bytes.Buffer
	copyHub(t, c, &out, fill)
	return out.Bytes()
}

func copyHub(t *testing.T, c Config, w io.Writer, fill func(kv *jetstream.KV)) backupfile.Manifest {
	t.Helper()
	b, err := broker.Open(broker.Config{Dir: c.path("store"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	conn, err := b.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: streamKV})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: conn, Name: streamLog})
	if err != nil {
		t.Fatal(err)
	}
	if fill != nil {
		fill(kv)
	}
	s := c.source(copies(kv, facts))
	s.Epoch, s.Audit = func() uint64 { return 1 }, func() backupfile.AuditHead { return backupfile.AuditHead{} }
	m, err := s.Make(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func of(raw []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
}

// tree is what is in a folder: paths, and what their files are.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func beside(t *testing.T, c Config) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(c.DataDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A folder that has something stays as it is, unless it is to be replaced: then it is moved aside. The
// files of the hub are for the hub alone.
func TestRestore(t *testing.T) {
	t.Parallel()
	c, raw := copiedHub(t, t.TempDir())
	before := tree(t, c.DataDir)
	if _, err := Restore(t.Context(), c, Restoring{Open: of(raw)}); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--replace") {
		t.Fatalf("%v", err)
	}
	if d := cmp.Diff(before, tree(t, c.DataDir)); d != "" {
		t.Errorf("it was changed (-before +now):\n%s", d)
	}
	got, err := Restore(t.Context(), c, Restoring{Open: of(raw), Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, tree(t, got.Aside)); d != "" || !strings.HasPrefix(got.Aside, c.DataDir+".before-") || got.Epoch != 2 {
		t.Errorf("%+v: what was there (-before +aside):\n%s", got, d)
	}
	now := tree(t, c.DataDir)
	for _, name := range []string{"/pki/ca.pem", "/pki/signing.pem", "/pki/admin.token", "/ca.pem"} {
		if now[name] != before[name] || now[name] == "" {
			t.Errorf("%s is another", name)
		}
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "pki": 0o700, "pki/ca.pem": 0o600, "ca.pem": 0o644, "hub.pub": 0o644, "audit": 0o700} {
		if info, err := os.Stat(filepath.Join(c.DataDir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	started(t, c)
	empty := c
	empty.DataDir = filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(empty.DataDir, 0o750); err != nil {
		t.Fatal(err)
	}
	if got, err := Restore(t.Context(), empty, Restoring{Open: of(raw)}); err != nil || got.Aside != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	started(t, empty)
	if names := beside(t, empty); len(names) != 1 {
		t.Errorf("beside it: %q", names)
	}
}

// With files, what people uploaded and the registry has comes back, wherever the file has it; without, it is
// said that they are missing.
func TestRestoreFiles(t *testing.T) {
	t.Parallel()
	c, _ := copiedHub(t, t.TempDir())
	c.Registry.Dir = filepath.Join(t.TempDir(), "images")
	for _, path := range []string{c.path("isos/content/sha256/ab"), filepath.Join(c.Registry.Dir, "blobs/x")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("content of "+filepath.Base(path)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, with := range []bool{false, true} {
		c.Backup.WithFiles = with
		raw := offlineBackup(t, c, nil)
		other := c
		other.DataDir = filepath.Join(t.TempDir(), "other")
		got, err := Restore(t.Context(), other, Restoring{Open: of(raw)})
		if err != nil {
			t.Fatal(err)
		}
		files := tree(t, other.DataDir)
		if there := files["/isos/content/sha256/ab"] == "content of ab" && files["/registry/blobs/x"] == "content of x"; there != with {
			t.Errorf("with files %t: they are there: %t", with, there)
		}
		want := []string{"images of the hub's registry", "uploaded files"}
		if with {
			want = nil
		}
		if d := cmp.Diff(want, got.Manifest.Without); d != "" {
			t.Error(d)
		}
		if misplaced := slices.Equal(got.Misplaced, []string{other.path("registry")}); misplaced != with {
			t.Errorf("with files %t: %q", with, got.Misplaced)
		}
	}
}

// A hub that runs is not replaced, and a backup that is not whole, or of something else, replaces nothing
// and leaves nothing.
func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	c, raw := copiedHub(t, t.TempDir())
	with := func(change func(w *backupfile.Writer, m *backupfile.Manifest) error) []byte {
		var out bytes.Buffer
		w, err := backupfile.NewWriter(&out, backupfile.Header{Made: time.Now()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := backupfile.Manifest{Streams: []backupfile.Stream{{Name: streamKV}, {Name: streamLog}}}
		if err := change(w, &m); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(m); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	add := func(name, data string) func(w *backupfile.Writer, m *backupfile.Manifest) error {
		return func(w *backupfile.Writer, _ *backupfile.Manifest) error {
			return w.Add(name, int64(len(data)), strings.NewReader(data))
		}
	}
	flipped := bytes.Clone(raw)
	flipped[len(flipped)/2] ^= 4
	turns := 0
	before := tree(t, c.DataDir)
	for _, row := range []struct {
		name string
		open func() (io.ReadCloser, error)
		want protocol.Code
	}{
		{"nothing", of(nil), protocol.CodeInvalid},
		{"a flipped byte", of(flipped), protocol.CodeInvalid},
		{"cut", of(raw[:len(raw)-1]), protocol.CodeInvalid},
		{"a member of another release", of(with(add("web/index.html", "x"))), protocol.CodeUnsupported},
		{"a file of the hub's own", of(with(add(headsFile, "{}"))), protocol.CodeUnsupported},
		{"a folder of keys that is deep", of(with(add("pki/deep/ca.pem", "x"))), protocol.CodeUnsupported},
		{"another stream", of(with(add("store/other/000001", "x"))), protocol.CodeUnsupported},
		{"other streams", of(with(func(_ *backupfile.Writer, m *backupfile.Manifest) error {
			m.Streams = m.Streams[:1]
			return nil
		})), protocol.CodeUnsupported},
		{"a stream that is no copy", of(with(add("store/rackboot/000001", "some text that is no copy"))), protocol.CodeInvalid},
		{"no keys and no streams", of(with(func(*backupfile.Writer, *backupfile.Manifest) error { return nil })), protocol.CodeInvalid},
		{"another one the second time", func() (io.ReadCloser, error) {
			if turns++; turns == 1 {
				return of(raw)()
			}
			return of(with(func(*backupfile.Writer, *backupfile.Manifest) error { return nil }))()
		}, protocol.CodeConflict},
		{"a file that cannot be opened", func() (io.ReadCloser, error) { return nil, protocol.Errorf(protocol.CodeDenied, "open", "no") }, protocol.CodeDenied},
	} {
		if _, err := Restore(t.Context(), c, Restoring{Open: row.open, Replace: true}); protocol.CodeOf(err) != row.want {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
		if names := beside(t, c); len(names) != 1 {
			t.Fatalf("%s: beside it there is %q", row.name, names)
		}
	}
	if d := cmp.Diff(before, tree(t, c.DataDir)); d != "" {
		t.Errorf("it was changed (-before +now):\n%s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error)
	go func() {
		done <- Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: func() { close(ready) }})
	}()
	<-ready
	if _, err := Restore(t.Context(), c, Restoring{Open: of(raw), Replace: true}); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "stop the hub") {
		t.Errorf("%v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Killed at any step, the hub's folder is the one that was there, or the new one, whole; the next
// restore does its work, and what was there before both is kept.
func TestRestoreKilled(t *testing.T) {
	child := statetest.NewChild(t, func(run statetest.Run) {
		c := Config{DataDir: filepath.Join(run.Dir, "hub"), API: "127.0.0.1:0", MQTT: "127.0.0.1:0", Names: []string{"127.0.0.1"}}
		raw, err := os.ReadFile(filepath.Join(run.Dir, "backup"))
		if err != nil {
			panic(err)
		}
		if _, err := Restore(context.Background(), c, Restoring{Open: of(raw), Replace: true, Crash: run.Crash}); err != nil {
			panic(err)
		}
	})
	_, raw := copiedHub(t, t.TempDir())
	for i, point := range []string{"verified", "begun", "unpacked", "raised", "finished", "exchanged", "aside"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := Config{DataDir: filepath.Join(dir, "hub"), API: "127.0.0.1:0", MQTT: "127.0.0.1:0", Names: []string{"127.0.0.1"}}
			mark := c.path("mark")
			if _, err := Restore(t.Context(), c, Restoring{Open: of(raw)}); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(mark, nil, 0o600), os.WriteFile(filepath.Join(dir, "backup"), raw, 0o600)); err != nil {
				t.Fatal(err)
			}
			child.KillAt(t, dir, "restore."+point, 1, nil)
			_, err := os.Stat(mark)
			if old := err == nil; old != (i < 5) {
				t.Errorf("the folder is the one that was there: %t", old)
			}
			started(t, c)
			execed()
			if _, err := Restore(t.Context(), c, Restoring{Open: of(raw), Replace: true}); err != nil {
				t.Fatal(err)
			}
			marks := 0
			for _, name := range beside(t, c) {
				if _, err := os.Stat(filepath.Join(dir, name, "mark")); err == nil {
					marks++
				}
				if strings.HasSuffix(name, restoringSuffix) {
					t.Errorf("%s is left", name)
				}
			}
			if marks != 1 {
				t.Errorf("the first folder is there %d times: %q", marks, beside(t, c))
			}
		})
	}
}

// On a disk that is full a restore leaves the folder that was there, and nothing else; with room it
// works.
func TestRestoreFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 24, func(t *testing.T, dir string) {
		c, raw := copiedHub(t, dir)
		before := tree(t, c.DataDir)
		filler := filepath.Join(dir, "filler")
		for _, free := range []int64{4 << 10, 16 << 10, 32 << 10} {
			statetest.Fill(t, filler, free)
			if _, err := Restore(t.Context(), c, Restoring{Open: of(raw), Replace: true}); err == nil {
				t.Fatalf("it fits into %d bytes", free)
			}
			if names := beside(t, c); !slices.Equal(names, []string{"filler", "hub"}) {
				t.Errorf("with %d bytes free there is %q", free, names)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(before, tree(t, c.DataDir)); d != "" {
			t.Errorf("it was changed (-before +now):\n%s", d)
		}
		if _, err := Restore(t.Context(), c, Restoring{Open: of(raw), Replace: true}); err != nil {
			t.Fatal(err)
		}
	})
}

// A store of 100 MB is backed up, verified and restored with less than 32 MiB of memory more.
func TestBackupMemory(t *testing.T) {
	c, _ := copiedHub(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "backup")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 200<<10)
	var base uint64
	w := &peak{w: f}
	copyHub(t, c, w, func(kv *jetstream.KV) {
		for i := range 500 {
			for j := range value {
				value[j] = byte(i*j>>3 ^ j>>8 ^ i*31) // compresses somewhat
			}
			if _, err := kv.Create(t.Context(), fmt.Sprintf("blob.%d", i), value); err != nil {
				t.Fatal(err)
			}
		}
		base = heap()
	})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	more := int64(w.most) - int64(base)
	t.Logf("a file of %d bytes, %d bytes of heap more", info.Size(), more)
	if more > 32<<20 {
		t.Errorf("%d bytes of heap more", more)
	}
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	var whole backupfile.Manifest
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	base = heap()
	got := &peakReader{r: r}
	if whole, err = backupfile.Read(got, nil, nil); err != nil {
		t.Fatal(err)
	}
	if more := int64(got.most) - int64(base); more > 32<<20 || whole.Streams[0].Messages < 500 {
		t.Errorf("reading it: %d bytes of heap more, %+v", more, whole.Streams)
	}
	c.DataDir += "2"
	if _, err := Restore(t.Context(), c, Restoring{Open: open}); err != nil {
		t.Fatal(err)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak measures the heap each 8 MiB.
type peak struct {
	w       io.Writer
	n, next int
	most    uint64
}

func (p *peak) Write(b []byte) (int, error) {
	p.tick(len(b))
	return p.w.Write(b)
}

func (p *peak) tick(n int) {
	if p.n += n; p.n > p.next {
		p.next, p.most = p.n+8<<20, max(p.most, heap())
	}
}

type peakReader struct {
	r io.Reader
	peak
}

func (p *peakReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.tick(n)
	return n, err
}

// execed waits until no process that was just forked, by a test beside, has our files open: until its
// exec it has them all, and with them the lock of a store that was closed.
func execed() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}
