package jetstream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state/jetstream"
)

// pieceBytes is the layout's, in bytes: what a hub of another release has put is read with it.
const pieceBytes = 512 << 10

func testBucket(t *testing.T, nc *nats.Conn) *jetstream.Bucket {
	t.Helper()
	b, err := jetstream.OpenBucket(t.Context(), jetstream.Config{Conn: nc, Name: "rackboot-files", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// content is some bytes, and their digest.
func content(size int) ([]byte, string) {
	raw := make([]byte, size)
	rng := rand.New(rand.NewPCG(uint64(size), 1))
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	return raw, fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

func read(ctx context.Context, b *jetstream.Bucket, digest string, size, offset int) ([]byte, error) {
	r, err := b.Open(ctx, digest, int64(size), int64(offset))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(r)
	return raw, errors.Join(err, r.Close())
}

// What was put is read from anywhere, of any length, and what is there is not sent again.
func TestBucketReadsWhatWasPut(t *testing.T) {
	b := testBucket(t, testServer(t, t.TempDir()))
	for _, size := range []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 7*pieceBytes + 5} {
		raw, digest := content(size)
		if sent, err := b.Put(t.Context(), digest, int64(size), bytes.NewReader(raw), false); err != nil || sent != int64(size) {
			t.Fatalf("%d bytes: %d sent, %v", size, sent, err)
		}
		if sent, err := b.Put(t.Context(), digest, int64(size), bytes.NewReader(raw), false); err != nil || sent != 0 {
			t.Errorf("%d bytes that are there: %d sent, %v", size, sent, err)
		}
		if sent, err := b.Put(t.Context(), digest, int64(size), bytes.NewReader(raw), true); err != nil || sent != int64(size) {
			t.Errorf("%d bytes anew: %d sent, %v", size, sent, err)
		}
		for _, offset := range []int{0, size / 2, size} {
			if got, err := read(t.Context(), b, digest, size, offset); err != nil || !bytes.Equal(got, raw[offset:]) {
				t.Errorf("%d bytes from %d: %d came, %v", size, offset, len(got), err)
			}
		}
	}
}

// Two that put the same at once leave one content; what is removed is gone, and nothing else.
func TestBucketOfTwo(t *testing.T) {
	nc := testServer(t, t.TempDir())
	a, b := testBucket(t, nc), testBucket(t, nc)
	raw, digest := content(5*pieceBytes + 9)
	other, otherDigest := content(pieceBytes + 3)
	var wait sync.WaitGroup
	for _, one := range []*jetstream.Bucket{a, b} {
		wait.Go(func() {
			if _, err := one.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), false); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if _, err := a.Put(t.Context(), otherDigest, int64(len(other)), bytes.NewReader(other), false); err != nil {
		t.Fatal(err)
	}
	want := []string{digest, otherDigest}
	slices.Sort(want)
	if got, err := b.Digests(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("there are %v, %v; want %v", got, err, want)
	}
	if used, err := b.Used(t.Context()); err != nil || used < uint64(len(raw)+len(other)) || used > uint64(len(raw)+len(other)+16<<10) {
		t.Errorf("%d bytes are used, %v: twice?", used, err)
	}
	if err := a.Remove(t.Context(), digest); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Digests(t.Context()); err != nil || !slices.Equal(got, []string{otherDigest}) {
		t.Errorf("after removal there are %v, %v", got, err)
	}
	if got, err := read(t.Context(), b, otherDigest, len(other), 0); err != nil || !bytes.Equal(got, other) {
		t.Errorf("the other: %d bytes, %v", len(got), err)
	}
	if err := a.Remove(t.Context(), digest); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

// A piece that is missing, cut, flipped, or of another place is said to be; nothing wrong is read. Put anew it is whole.
func TestBucketDamaged(t *testing.T) {
	nc := testServer(t, t.TempDir())
	b := testBucket(t, nc)
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "rackboot-files")
	if err != nil {
		t.Fatal(err)
	}
	raw, digest := content(3*pieceBytes + 9)
	subject := func(at int) string { return fmt.Sprintf("rackboot-files.%s.%d", digest[len("sha256:"):], at) }
	store := func(at int, change func(m *nats.Msg)) {
		was, err := stream.GetLastMsgForSubject(t.Context(), subject(at))
		if err != nil {
			t.Fatal(err)
		}
		m := &nats.Msg{Subject: subject(at), Data: bytes.Clone(was.Data), Header: nats.Header{"Rackboot-Sum": was.Header["Rackboot-Sum"]}}
		change(m)
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(){
		"missing": func() {
			if err := stream.Purge(t.Context(), natsjs.WithPurgeSubject(subject(2))); err != nil {
				t.Fatal(err)
			}
		},
		"flipped":  func() { store(2, func(m *nats.Msg) { m.Data[pieceBytes/2] ^= 1 }) },
		"cut":      func() { store(2, func(m *nats.Msg) { m.Data = m.Data[:100] }) },
		"last cut": func() { store(3, func(m *nats.Msg) { m.Data = m.Data[:8] }) },
		"no sum":   func() { store(2, func(m *nats.Msg) { m.Header = nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), true); err != nil {
				t.Fatal(err)
			}
			spoil()
			got, err := read(t.Context(), b, digest, len(raw), 10)
			if !errors.Is(err, jetstream.ErrPieces) || protocol.CodeOf(err) != protocol.CodeInvalid || !bytes.HasPrefix(raw[10:], got) || len(got) < 2*pieceBytes-10 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if _, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), true); err != nil {
				t.Fatal(err)
			}
			if got, err := read(t.Context(), b, digest, len(raw), 0); err != nil || !bytes.Equal(got, raw) {
				t.Errorf("put anew: %d bytes, %v", len(got), err)
			}
		})
	}
}

// cutSource is a content whose reads fail from a place on.
type cutSource struct {
	r    io.ReaderAt
	from int64
}

func (c cutSource) ReadAt(p []byte, at int64) (int, error) {
	if at >= c.from {
		return 0, errors.New("the disk is gone")
	}
	return c.r.ReadAt(p, at)
}

// What was cut off is gone on with; what is something else than it says is refused.
func TestBucketGoesOn(t *testing.T) {
	b := testBucket(t, testServer(t, t.TempDir()))
	raw, digest := content(6 * pieceBytes)
	if _, err := b.Put(t.Context(), digest, int64(len(raw)), cutSource{bytes.NewReader(raw), 4 * pieceBytes}, false); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Fatalf("a source that fails: %v", err)
	}
	if _, err := read(t.Context(), b, digest, len(raw), 0); !errors.Is(err, jetstream.ErrPieces) {
		t.Errorf("half of it: %v", err)
	}
	if n, err := b.Lacks(t.Context(), digest, int64(len(raw))); err != nil || n < 2 || n > 6 {
		t.Errorf("%d pieces lack, %v", n, err)
	}
	sent, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), false)
	if err != nil || sent < 2*pieceBytes || sent == int64(len(raw)) {
		t.Errorf("%d bytes were sent, %v", sent, err)
	}
	if got, err := read(t.Context(), b, digest, len(raw), 0); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n, err := b.Lacks(t.Context(), digest, int64(len(raw))); err != nil || n != 0 {
		t.Errorf("%d pieces lack, %v", n, err)
	}
	raw[5*pieceBytes] ^= 1
	if _, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), true); !errors.Is(err, jetstream.ErrSource) || protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("something else: %v", err)
	}
}

// Whoever asks with a context that has ended, or for what is no digest, gets an error and no bytes.
func TestBucketRefuses(t *testing.T) {
	b := testBucket(t, testServer(t, t.TempDir()))
	raw, digest := content(2 * pieceBytes)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := b.Put(ended, digest, int64(len(raw)), bytes.NewReader(raw), true); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("put: %v", err)
	}
	if _, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), false); err != nil {
		t.Fatal(err)
	}
	if got, err := read(ended, b, digest, len(raw), 0); protocol.CodeOf(err) != protocol.CodeTimeout || len(got) > 0 {
		t.Errorf("read: %d bytes, %v", len(got), err)
	}
	for _, wrong := range []string{"", "sha256:", digest[:70], "md5:" + digest[7:], digest[:70] + "*", "sha256:" + digest[7:69] + ".>"} {
		_, putErr := b.Put(t.Context(), wrong, 1, bytes.NewReader(raw), false)
		_, openErr := b.Open(t.Context(), wrong, 1, 0)
		for _, err := range []error{putErr, openErr, b.Remove(t.Context(), wrong)} {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	}
	if _, err := b.Open(t.Context(), digest, 10, 11); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("behind the end: %v", err)
	}
}

// A bucket is opened when it is needed first. A stream that is removed and made anew is another one, which all learn when
// they look.
func TestBucketMadeAnew(t *testing.T) {
	nc := testServer(t, t.TempDir())
	b, err := jetstream.NewBucket(jetstream.Config{Conn: nc, Name: "rackboot-files", Timeout: patience})
	if err != nil || b.ID() != "" {
		t.Fatalf("%q, %v", b.ID(), err)
	}
	if digests, err := b.Digests(t.Context()); err != nil || len(digests) > 0 || b.ID() == "" {
		t.Fatalf("%v, %v, %q", digests, err, b.ID())
	}
	was, other := b.ID(), testBucket(t, nc)
	if other.ID() != was {
		t.Errorf("another one has %s, not %s", other.ID(), was)
	}
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "rackboot-files"); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*jetstream.Bucket{b, other} {
		if err := one.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if b.ID() == was || b.ID() != other.ID() {
		t.Errorf("made anew they have %s and %s; it was %s", b.ID(), other.ID(), was)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := b.Ready(ended); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("nobody waits for it: %v", err)
	}
}

// A server that has not the room a bucket may need refuses it as a whole, so that others keep theirs; with less it is
// made, and takes no more than that.
func TestBucketWithoutPlace(t *testing.T) {
	s, err := server.NewServer(&server.Options{
		ServerName: "small", DontListen: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 8 << 20, NoSigs: true, NoLog: true, NoSystemAccount: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	cfg := jetstream.Config{Conn: nc, Name: "rackboot-files", Timeout: patience, MaxBytes: 9 << 20}
	if _, err := jetstream.OpenBucket(t.Context(), cfg); !errors.Is(err, jetstream.ErrNoPlace) || protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Fatalf("more than the server has: %v", err)
	}
	cfg.MaxBytes = 4 << 20
	b, err := jetstream.OpenBucket(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	raw, digest := content(6 << 20)
	if _, err := b.Put(t.Context(), digest, int64(len(raw)), bytes.NewReader(raw), false); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("more than the bucket may have: %v", err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Create(t.Context(), "holds.one", bytes.Repeat([]byte("x"), 100<<10)); err != nil {
		t.Errorf("with a full bucket no hold is stored: %v", err)
	}
}
