package brokers

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// uploadMiB is for who measures.
var uploadMiB = flag.Int("upload", 5, "MiB of the first file of TestUploadOnTwoHubs")

// peak is the most memory that the process has had.
func (s *server) peak() string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// tarOf is an archive with so many bytes, and its digest.
func tarOf(t *testing.T, size int) ([]byte, string) {
	t.Helper()
	raw := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{byte(size >> 20)}).Read(raw); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.Grow(size + 4096)
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: int64(size)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), fmt.Sprintf("sha256:%x", sha256.Sum256(out.Bytes()))
}

// sends sends a file as far as upTo, and returns its upload.
func (s *site) sends(name string, raw []byte, digest string, upTo int) api.ISOUpload {
	s.t.Helper()
	u, err := s.client.Uploads.Begin(s.t.Context(), api.ISOUploadRequest{File: name, Digest: digest, Size: int64(len(raw))})
	if err != nil || u.Done {
		s.t.Fatalf("%+v, %v", u, err)
	}
	for int64(upTo) > u.Offset {
		upTo := min(int64(upTo), u.Offset+16<<20)
		if u, err = s.client.Uploads.Send(s.t.Context(), u.ID, u.Offset, bytes.NewReader(raw[u.Offset:upTo]), upTo-u.Offset); err != nil {
			s.t.Fatal(err)
		}
	}
	return u
}

// names ends an upload. What passes by itself is tried again, as rackctl does.
func (s *site) names(u api.ISOUpload) {
	s.t.Helper()
	var last error
	s.until("the name", func() bool {
		_, last = s.client.Uploads.Finish(s.t.Context(), u.ID, api.ISOFinishRequest{File: u.File})
		if code := protocol.CodeOf(last); last != nil && code != protocol.CodeUnavailable && code != protocol.CodeTimeout {
			s.t.Fatal(last)
		}
		return last == nil
	}, func() any { return last })
}

// has waits until the hub's folder has a content, as it was.
func (s *site) has(raw []byte, digest string) {
	s.t.Helper()
	path := filepath.Join(s.hub.DataDir, "isos", "content", strings.TrimPrefix(digest, "sha256:"))
	begun := time.Now()
	s.until("the content", func() bool { return exists(path) }, func() any { return path })
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, raw) {
		s.t.Errorf("%d bytes are there, want %d; %v", len(got), len(raw), err)
	}
	s.t.Logf("%d bytes are there after %s", len(raw), time.Since(begun).Round(time.Millisecond))
}

// TestUploadOnTwoHubs: what was uploaded through one of two hubs another has after the first was killed with SIGKILL. An
// upload that was under way there leaves no name, and begins anew through the other. A node that leads the stream of
// contents is killed while they are put there. The hub that comes back fetches what came meanwhile.
func TestUploadOnTwoHubs(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a := newSite(t, 0, mosquitto)
	a.shares(c, "a", a.hub.DataDir)
	a.hub.ISOs.QuotaMiB = 4096
	one := a.apart("a")
	a.comes(one)
	b := *a
	b.client, b.toHub = nil, newProxy(t, a.broker.addrs...)
	b.hub.Broker.URL, b.hub.API = b.toHub.url(), freeAddress(t)
	b.shares(c, "b", filepath.Join(a.dir, "other"))
	b.startHub()

	raw, digest := tarOf(t, *uploadMiB<<20)
	begun := time.Now()
	u := a.sends("first.tar", raw, digest, len(raw))
	sent := time.Since(begun)
	a.names(u)
	t.Logf("%d MiB have a name after %s, sent to the hub after %s; the hub's memory was at most %s", *uploadMiB, time.Since(begun).Round(time.Millisecond), sent.Round(time.Millisecond), one.peak())
	begun = time.Now()
	b.has(raw, digest)
	t.Logf("the other hub has it %s later", time.Since(begun).Round(time.Millisecond))
	half, halfDigest := tarOf(t, 6<<20)
	cut := a.sends("half.tar", half, halfDigest, 4<<20)
	one.kill()

	b.until("the name at the other hub", func() bool {
		item, err := b.client.ISOs.Get(t.Context(), "first.tar")
		return err == nil && !item.Missing
	}, func() any { return "" })
	b.has(raw, digest)
	if _, err := b.client.ISOs.Get(t.Context(), "half.tar"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("what was cut off has a name: %v", err)
	}
	if _, err := b.client.Uploads.Get(t.Context(), cut.ID); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("the other hub knows the upload: %v", err)
	}
	if u := b.sends("half.tar", half, halfDigest, 0); u.Offset != 0 {
		t.Errorf("it goes on at %d", u.Offset)
	}
	b.names(b.sends("half.tar", half, halfDigest, len(half)))

	js, err := jetstream.New(c.conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "rackboot-files")
	if err != nil {
		t.Fatal(err)
	}
	before, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	long, longDigest := tarOf(t, 24<<20)
	u = b.sends("long.tar", long, longDigest, 12<<20)
	u, err = b.client.Uploads.Send(t.Context(), u.ID, u.Offset, bytes.NewReader(long[u.Offset:]), u.Size-u.Offset)
	if err != nil {
		t.Fatal(err)
	}
	killed := make(chan string, 1)
	go func() {
		defer close(killed)
		for t.Context().Err() == nil {
			info, err := stream.Info(t.Context())
			if err != nil || info.Cluster == nil || info.State.Msgs < before.State.Msgs+3 {
				time.Sleep(time.Millisecond)
				continue
			}
			c.nodes[info.Cluster.Leader].kill()
			killed <- info.Cluster.Leader
			return
		}
	}()
	begun = time.Now()
	b.names(u)
	t.Logf("%d MiB have a name %s after their end, with the death of the leader %s in it", len(long)>>20, time.Since(begun).Round(time.Millisecond), <-killed)

	a.comes(one)
	a.has(half, halfDigest)
	a.has(long, longDigest)
	list, err := a.client.ISOs.List(t.Context())
	if err != nil || len(list.Items) != 3 {
		t.Errorf("%d files, %v", len(list.Items), err)
	}
	for _, i := range list.Items {
		if i.Missing {
			t.Errorf("%s is missing", i.File)
		}
	}
	one.kill()
	b.stopHub()
	b.movesBack(stream, raw, digest)
}

// movesBack moves the store into the hub's folder, which lacks a content that the servers have, and then one that nobody
// has; both are looked at before.
func (s *site) movesBack(stream jetstream.Stream, raw []byte, digest string) {
	s.t.Helper()
	name := strings.TrimPrefix(digest, "sha256:")
	lose := func() {
		if err := os.Remove(filepath.Join(s.hub.DataDir, "isos", "content", name)); err != nil {
			s.t.Fatal(err)
		}
	}
	lacking := func() (out []string) {
		found, err := hubdaemon.Check(s.t.Context(), s.hub, hubdaemon.CheckOptions{Work: s.dir})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, f := range found {
			if f.Code == hubdaemon.FoundLacking {
				out = append(out, f.Where)
			}
		}
		return out
	}
	lose()
	if where := lacking(); len(where) > 0 {
		s.t.Errorf("what the servers have is said to be lacking: %q", where)
	}
	s.until("no hub works", func() bool { return s.migrated() }, func() any { return "" })
	s.has(raw, digest)
	lose()
	if err := stream.Purge(s.t.Context(), jetstream.WithPurgeSubject("rackboot-files."+name+".1")); err != nil {
		s.t.Fatal(err)
	}
	if where := lacking(); len(where) != 1 || where[0] != "first.tar" {
		s.t.Errorf("what nobody has is %q", where)
	}
	moved := s.migrate(hubdaemon.MoveToFolder)
	if moved.Brought != 0 || len(moved.Lacking) != 1 || !strings.HasPrefix(moved.Lacking[0], "first.tar ("+digest+")") {
		s.t.Errorf("moved again: %+v", moved)
	}
}

// migrated moves the store to the folder, if no hub works; it brings one content.
func (s *site) migrated() bool {
	moved, err := hubdaemon.Migrate(s.t.Context(), s.hub, hubdaemon.MoveToFolder, nil)
	if protocol.CodeOf(err) == protocol.CodeConflict && strings.Contains(err.Error(), "works on it") {
		return false
	}
	if err != nil || moved.Brought != 1 || len(moved.Lacking) > 0 {
		s.t.Fatalf("%+v, %v", moved, err)
	}
	return true
}
