package contents

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/iso"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state/blob"
	"rackboot/state/jetstream"
)

const (
	pieceBytes = 512 << 10
	streamName = "rackboot-files"
	patience   = time.Minute
)

// place is a store and a server that hubs share, and a clock.
type place struct {
	t     *testing.T
	kv    *storetest.Memory
	conn  *nats.Conn
	start time.Time
	off   atomic.Int64 // nanoseconds that passed since; works of hubs read the clock at any time
	hubs  []*hub
	cause error
}

func (p *place) now() time.Time { return p.start.Add(time.Duration(p.off.Load())) }

func (p *place) pass(d time.Duration) { p.off.Add(int64(d)) }

// hub is one of those that share a place.
type hub struct {
	*Room
	*iso.Shelf
	store  *store.Store
	works  bool
	needed map[string]bool
	broken *faulty
}

// faulty is a bucket that fails from a number of sent bytes on, or as a whole.
type faulty struct {
	Bucket
	closed error
	cut    int64 // of the content; 0 is not at all
}

type cut struct {
	io.ReaderAt
	at int64
}

var errCut = errors.New("the servers are gone")

func (c cut) ReadAt(p []byte, at int64) (int, error) {
	if at >= c.at {
		return 0, errCut
	}
	return c.ReaderAt.ReadAt(p, at)
}

func (f *faulty) Ready(ctx context.Context) error {
	if f.closed != nil {
		return f.closed
	}
	return f.Bucket.Ready(ctx)
}

func (f *faulty) Put(ctx context.Context, digest string, size int64, content io.ReaderAt, anew bool) (int64, error) {
	if f.cut > 0 {
		content = cut{content, f.cut}
	}
	return f.Bucket.Put(ctx, digest, size, content, anew)
}

func newPlace(t *testing.T) *place {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		ServerName: "test", DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, NoSystemAccount: true,
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
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return &place{t: t, kv: storetest.NewMemory(), conn: conn, start: time.Now()}
}

func (p *place) bucket() *jetstream.Bucket {
	p.t.Helper()
	b, err := jetstream.OpenBucket(p.t.Context(), jetstream.Config{Conn: p.conn, Name: streamName, Timeout: patience})
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// hub opens one with a folder and a quota of its own.
func (p *place) hub(dir string, quota int64) *hub {
	p.t.Helper()
	st, err := store.Open(p.t.Context(), store.Config{KV: p.kv, Log: p.kv, Clock: p.now, NewID: rand.Text})
	if err != nil {
		p.t.Fatal(err)
	}
	st.Units.Share()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = st.Run(ctx)
	}()
	h := &hub{store: st, needed: map[string]bool{}, broken: &faulty{Bucket: p.bucket()}}
	log := slog.New(slog.DiscardHandler)
	h.Room, err = New(Config{
		Store: st, Bucket: h.broken, Quota: quota, Works: func() bool { return h.works }, Under: func(ctx context.Context) context.Context { return ctx },
		Clock: p.now, NewID: rand.Text, Logger: log, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	h.Shelf, err = iso.Open(iso.Config{
		Dir: dir, Quota: quota, Store: st, Depot: h.Room, Needed: func() (map[string]bool, error) { return h.needed, p.cause },
		Clock: p.now, Logger: log, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	h.Serve(Uploads(h.Shelf))
	p.hubs = append(p.hubs, h)
	p.t.Cleanup(func() {
		h.under.Wait()
		stop()
		<-ended
		if err := h.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return h
}

// look has a hub do what it does every few seconds, and waits until that is done.
func (h *hub) look(p *place) {
	p.heard()
	h.round(p.t.Context())
	h.under.Wait()
}

// heard waits until all hubs have heard of all that is written.
func (p *place) heard() {
	p.t.Helper()
	_, newest, err := p.kv.List(p.t.Context(), "")
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(p.t.Context(), patience)
	defer stop()
	for _, h := range p.hubs {
		if !h.store.Hubs.Reached(ctx, newest) {
			p.t.Fatal("a hub does not hear what is written")
		}
	}
}

// archive is a tar with so many bytes in it.
func archive(t *testing.T, size int) ([]byte, string) {
	t.Helper()
	raw := make([]byte, size)
	r := mathrand.New(mathrand.NewPCG(uint64(size), 7))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	var out bytes.Buffer
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

func (h *hub) upload(ctx context.Context, name string, raw []byte, digest string) error {
	u, err := h.Begin(ctx, protoapi.ISOUploadRequest{File: name, Digest: digest, Size: int64(len(raw))}, "ann")
	if err != nil || u.Done {
		return err
	}
	if u.Offset < u.Size {
		if _, err := h.Append(ctx, u.ID, u.Offset, bytes.NewReader(raw[u.Offset:])); err != nil {
			return err
		}
	}
	_, err = h.Finish(ctx, u.ID, protoapi.ISOFinishRequest{File: name})
	return err
}

// serves reads what the hub gives to agents.
func (h *hub) serves(t *testing.T, digest string, want []byte) {
	t.Helper()
	f, _, err := h.OpenContent(digest)
	if err != nil {
		t.Fatalf("nothing is served: %v", err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes are served, want %d; %v", len(got), len(want), err)
	}
}

func (h *hub) record(t *testing.T, digest string) store.Content {
	t.Helper()
	c, err := h.store.Contents.Newest(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p *place) stream() natsjs.Stream {
	p.t.Helper()
	js, err := natsjs.New(p.conn)
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := js.Stream(p.t.Context(), streamName)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func subject(digest string, at int) string {
	return fmt.Sprintf("%s.%s.%d", streamName, digest[len("sha256:"):], at)
}

const quota = 64 << 20

// What was uploaded through one hub another has: it says so when it is asked, fetches it, and serves it. The same upload
// through the other is done without a byte.
func TestOtherHubHasIt(t *testing.T) {
	p := newPlace(t)
	a, b := p.hub(t.TempDir(), quota), p.hub(t.TempDir(), quota)
	raw, digest := archive(t, 3*pieceBytes+77)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	p.heard()
	if item, err := b.Get("a.tar"); err != nil || item.Missing {
		t.Errorf("the other hub says %+v, %v", item, err)
	}
	if _, _, err := b.OpenContent(digest); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("before it was fetched: %v", err)
	}
	if !b.asked[digest] {
		t.Error("that somebody waits for it is not known")
	}
	if u, err := b.Begin(t.Context(), protoapi.ISOUploadRequest{File: "a.tar", Digest: digest, Size: int64(len(raw))}, "ann"); err != nil || !u.Done {
		t.Errorf("the same upload through the other hub: %+v, %v", u, err)
	}
	b.look(p)
	b.serves(t, digest, raw)
	if n := testutil.ToFloat64(b.metrics.fetched); n != float64(len(raw)) {
		t.Errorf("%v bytes were counted", n)
	}
	b.look(p)
	if lacking, unstored := testutil.ToFloat64(b.metrics.lacking), testutil.ToFloat64(b.metrics.unstored); lacking != 0 || unstored != 0 {
		t.Errorf("%v lack, %v are not stored", lacking, unstored)
	}
	if _, _, err := b.OpenContent("sha256:" + digest[8:] + "0"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("what nobody has: %v", err)
	}
}

// A fetch that was cut off goes on where it was, also after a restart of the hub.
func TestFetchGoesOn(t *testing.T) {
	p := newPlace(t)
	a, dir := p.hub(t.TempDir(), quota), t.TempDir()
	raw, digest := archive(t, 6*pieceBytes)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	b := p.hub(dir, quota)
	in, err := b.Receive(t.Context(), digest, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Append(t.Context(), bytes.NewReader(raw[:2*pieceBytes+9])); err != nil {
		t.Fatal(err)
	}
	in.Close()
	b.look(p)
	b.serves(t, digest, raw)
	if n := testutil.ToFloat64(b.metrics.fetched); n != float64(len(raw)-2*pieceBytes-9) {
		t.Errorf("%v bytes were fetched", n)
	}
}

// What the servers have not as it was is not served, is said, and comes again from a hub that has it.
func TestDamagedIsPutAnew(t *testing.T) {
	for name, spoil := range map[string]func(p *place, digest string){
		"a flipped byte": func(p *place, digest string) {
			was, err := p.stream().GetLastMsgForSubject(p.t.Context(), subject(digest, 1))
			if err != nil {
				p.t.Fatal(err)
			}
			data := bytes.Clone(was.Data)
			data[1000] ^= 1
			js, _ := natsjs.New(p.conn)
			if _, err := js.PublishMsg(p.t.Context(), &nats.Msg{Subject: subject(digest, 1), Header: was.Header, Data: data}); err != nil {
				p.t.Fatal(err)
			}
		},
		"a missing piece": func(p *place, digest string) {
			if err := p.stream().Purge(p.t.Context(), natsjs.WithPurgeSubject(subject(digest, 2))); err != nil {
				p.t.Fatal(err)
			}
		},
		"another content, whose pieces are whole": func(p *place, digest string) {
			other, otherDigest := archive(p.t, 3*pieceBytes+1)
			if _, err := p.bucket().Put(p.t.Context(), otherDigest, int64(len(other)), bytes.NewReader(other), true); err != nil {
				p.t.Fatal(err)
			}
			js, _ := natsjs.New(p.conn)
			m, err := p.stream().GetLastMsgForSubject(p.t.Context(), subject(otherDigest, 1))
			if err != nil {
				p.t.Fatal(err)
			}
			if _, err := js.PublishMsg(p.t.Context(), &nats.Msg{Subject: subject(digest, 1), Header: m.Header, Data: m.Data}); err != nil {
				p.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			a, b := p.hub(t.TempDir(), quota), p.hub(t.TempDir(), quota)
			raw, digest := archive(t, 3*pieceBytes+77)
			if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
				t.Fatal(err)
			}
			spoil(p, digest)
			b.look(p)
			if b.Has(digest) {
				t.Fatal("something wrong counts")
			}
			if c := b.record(t, digest); c.State != store.ContentDamaged {
				t.Errorf("the record is %+v", c)
			}
			if n := testutil.ToFloat64(b.metrics.fetches.WithLabelValues(resultDamaged)); n != 1 {
				t.Errorf("%v fetches of damaged contents", n)
			}
			b.look(p)
			if n := testutil.ToFloat64(b.metrics.lacking); n != 1 {
				t.Errorf("%v contents lack", n)
			}
			a.look(p)
			if c := a.record(t, digest); c.State != store.ContentWhole {
				t.Errorf("after it was put anew the record is %+v", c)
			}
			p.pass(pauseMax)
			b.look(p)
			b.serves(t, digest, raw)
		})
	}
}

// A hub without room for a content does not have it, says so, and has it once there is room.
func TestFetchWithoutRoom(t *testing.T) {
	p := newPlace(t)
	a, dir := p.hub(t.TempDir(), quota), t.TempDir()
	raw, digest := archive(t, 3*pieceBytes)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	b := p.hub(dir, pieceBytes)
	b.look(p)
	if n := testutil.ToFloat64(b.metrics.fetches.WithLabelValues(resultNoRoom)); n != 1 || b.Has(digest) {
		t.Errorf("%v fetches without room, there %t", n, b.Has(digest))
	}
	b.look(p) // not at once
	if n := testutil.ToFloat64(b.metrics.fetches.WithLabelValues(resultNoRoom)); n != 1 {
		t.Errorf("%v fetches without a pause", n)
	}
	c := p.hub(filepath.Join(dir, "larger"), quota)
	c.look(p)
	c.serves(t, digest, raw)
}

// A name comes only with its content: while the servers take nothing, or not all of it, there is none. What was sent stays.
func TestNoNameWithoutContent(t *testing.T) {
	p := newPlace(t)
	a := p.hub(t.TempDir(), quota)
	raw, digest := archive(t, 14*pieceBytes)
	a.broken.cut = 11 * pieceBytes
	if err := a.upload(t.Context(), "a.tar", raw, digest); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Fatalf("half of it: %v", err)
	}
	if _, err := a.Get("a.tar"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("there is a name: %v", err)
	}
	if a.Whole(digest) {
		t.Error("it counts as whole")
	}
	a.broken.cut = 0
	sent := testutil.ToFloat64(a.metrics.sent)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	if more := testutil.ToFloat64(a.metrics.sent) - sent; more <= 0 || more >= float64(len(raw)) {
		t.Errorf("%v bytes were sent again", more)
	}
	// What is here and cannot be looked for on the servers is counted, and begins when it can.
	a.broken.closed = protocol.Errorf(protocol.CodeUnavailable, "open", "%w", jetstream.ErrNoPlace)
	other, otherDigest := archive(t, pieceBytes)
	if err := a.upload(t.Context(), "other.tar", other, otherDigest); !errors.Is(err, jetstream.ErrNoPlace) {
		t.Errorf("without a bucket: %v", err)
	}
	a.needed[otherDigest] = true
	a.look(p)
	if n := testutil.ToFloat64(a.metrics.unstored); n != 1 {
		t.Errorf("%v are not stored", n)
	}
	a.broken.closed = nil
	a.look(p)
	a.look(p)
	if n := testutil.ToFloat64(a.metrics.unstored); n != 0 {
		t.Errorf("afterwards %v are not stored", n)
	}
	// Neither does what has no room on the servers.
	b := p.hub(t.TempDir(), 8*pieceBytes)
	big, bigDigest := archive(t, 7*pieceBytes)
	if err := b.upload(t.Context(), "b.tar", big, bigDigest); !errors.Is(err, blob.ErrInsufficient) || protocol.HintOf(err) == "" {
		t.Errorf("no room on the servers: %v", err)
	}
	if _, err := b.Get("b.tar"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("there is a name: %v", err)
	}
}

// A hub that moved to servers, and one whose servers lost their stream, puts there what it has.
func TestWhatIsHereIsPutThere(t *testing.T) {
	p := newPlace(t)
	dir := t.TempDir()
	alone, err := iso.Open(iso.Config{
		Dir: dir, Quota: quota, Store: p.hub(t.TempDir(), quota).store, Needed: func() (map[string]bool, error) { return nil, nil },
		Clock: p.now, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, digest := archive(t, 2*pieceBytes)
	if err := (&hub{Shelf: alone}).upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := p.hub(dir, quota), p.hub(t.TempDir(), quota)
	if a.record(t, digest).Revision != 0 {
		t.Fatal("a hub that is alone has put it there")
	}
	b.look(p)
	if n := testutil.ToFloat64(b.metrics.lacking); n != 1 {
		t.Errorf("%v contents lack", n)
	}
	a.look(p)
	b.look(p)
	b.serves(t, digest, raw)

	js, err := natsjs.New(p.conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), streamName); err != nil {
		t.Fatal(err)
	}
	if err := a.broken.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Whole(digest) {
		t.Error("what a stream had that is gone counts")
	}
	a.look(p)
	c := p.hub(t.TempDir(), quota)
	c.look(p)
	c.serves(t, digest, raw)
}

// What nothing names any more goes from the servers after a while, once; what an agent's documents still name stays, and
// while it is not known what they name, everything does.
func TestRemoved(t *testing.T) {
	p := newPlace(t)
	a, b := p.hub(t.TempDir(), quota), p.hub(t.TempDir(), quota)
	b.works = true
	raw, digest := archive(t, 2*pieceBytes)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	there := func() bool {
		t.Helper()
		p.heard()
		digests, err := p.bucket().Digests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(digests) > 0 != (b.record(t, digest).Revision > 0) {
			t.Errorf("%v is there, and the record is %+v", digests, b.record(t, digest))
		}
		return len(digests) > 0
	}
	pass := func(d time.Duration) {
		p.heard()
		b.round(t.Context())
		p.pass(d)
		b.round(t.Context())
	}
	pass(10 * quietFor)
	if !there() {
		t.Fatal("what is named went")
	}
	b.needed[digest] = true
	if _, err := a.Remove(t.Context(), "a.tar", false, "ann"); err != nil {
		t.Fatal(err)
	}
	pass(10 * quietFor)
	if !there() {
		t.Fatal("what a document names went")
	}
	delete(b.needed, digest)
	p.cause = errors.New("a document cannot be read")
	pass(10 * quietFor)
	p.cause = nil
	if !there() {
		t.Fatal("it went while it was not known what is needed")
	}
	pass(quietFor - time.Second)
	if !there() {
		t.Fatal("it went too early")
	}
	pass(2 * time.Second)
	if there() {
		t.Fatal("it stays")
	}
	if n := testutil.ToFloat64(b.metrics.removed); n != 1 {
		t.Errorf("%v were counted", n)
	}
	// It comes again, with a name.
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	if !there() || a.record(t, digest).State != store.ContentWhole {
		t.Error("it did not come again")
	}
}

// Pieces that are in no book go, those of a content that is in one do not.
func TestSweep(t *testing.T) {
	p := newPlace(t)
	a := p.hub(t.TempDir(), quota)
	raw, digest := archive(t, pieceBytes)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	other, otherDigest := archive(t, 2*pieceBytes)
	if _, err := p.bucket().Put(t.Context(), otherDigest, int64(len(other)), bytes.NewReader(other), false); err != nil {
		t.Fatal(err)
	}
	p.heard()
	if err := a.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := p.bucket().Digests(t.Context()); err != nil || len(got) != 1 || got[0] != digest {
		t.Errorf("there are %v, %v", got, err)
	}
	if a.record(t, otherDigest).Revision != 0 || a.record(t, digest).State != store.ContentWhole {
		t.Error("the book is another one")
	}
}

// A program of a package is there for good once the servers have it: through whichever hub it comes, and without a byte
// through the second.
func TestProgram(t *testing.T) {
	p := newPlace(t)
	a, b := p.hub(t.TempDir(), quota), p.hub(t.TempDir(), quota)
	raw, digest := archive(t, pieceBytes+5)
	size := int64(len(raw))
	if at, err := a.Take(t.Context(), digest, size, 0, bytes.NewReader(raw[:100])); err != nil || at != 100 || a.Kept(digest) {
		t.Fatalf("%d, %v, kept %t", at, err, a.Kept(digest))
	}
	a.broken.cut = 1
	if _, err := a.Take(t.Context(), digest, size, 100, bytes.NewReader(raw[100:])); err != nil {
		t.Logf("with servers that take one piece: %v", err)
	} else {
		t.Error("it was taken without the servers")
	}
	if !a.Has(digest) || a.Kept(digest) {
		t.Errorf("here %t, kept %t", a.Has(digest), a.Kept(digest))
	}
	a.broken.cut = 0
	if at, err := a.Resume(t.Context(), digest, size); err != nil || at != size || !a.Kept(digest) {
		t.Errorf("%d, %v, kept %t", at, err, a.Kept(digest))
	}
	p.heard()
	if at, err := b.Resume(t.Context(), digest, size); err != nil || at != size || !b.Kept(digest) || b.Has(digest) {
		t.Errorf("the other hub: %d, %v, kept %t, here %t", at, err, b.Kept(digest), b.Has(digest))
	}
}

// Run begins by itself, and ends with all that it began.
func TestRun(t *testing.T) {
	p := newPlace(t)
	a, b := p.hub(t.TempDir(), quota), p.hub(t.TempDir(), quota)
	raw, digest := archive(t, pieceBytes)
	if err := a.upload(t.Context(), "a.tar", raw, digest); err != nil {
		t.Fatal(err)
	}
	p.heard()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Room.Run(ctx) }()
	for end := time.Now().Add(patience); !b.Has(digest); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not fetched")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	b.serves(t, digest, raw)
}
