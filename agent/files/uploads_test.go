package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// isoHub gives contents by digest.
type isoHub struct {
	mu    sync.Mutex
	files map[string][]byte
	give  func(offset int64, rest []byte) (io.Reader, error) // nil: all
	asked []int64
}

func (h *isoHub) Fetch(_ context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, offset)
	content, ok := h.files[digest]
	if !ok {
		return nil, protocol.Errorf(protocol.CodeDenied, "fetch file", "no document names it")
	}
	rest := content[offset:min(int64(len(content)), offset+n)]
	if h.give != nil {
		r, err := h.give(offset, rest)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(r), nil
	}
	return io.NopCloser(bytes.NewReader(rest)), nil
}

func isoOf(content []byte) resource.EnvISO {
	return resource.EnvISO{File: "A.iso", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(content)), Size: int64(len(content))}
}

func isoBench(t testing.TB, dir string, hub ISOSource, quota int64, limits ISOLimits, crash func(string)) *uploads {
	t.Helper()
	blobs, err := blob.Open(blob.Config{Dir: dir, Quota: quota, Crash: crash})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() }) // some tests close it themselves
	return newUploads(&Config{
		Blobs: blobs, ISOSource: hub, Limits: limits, Servers: nobody{}, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Crash: crash,
	})
}

// nobody has no loops that could look.
type nobody struct{}

func (nobody) Look(string) {}

func (nobody) LookAtAll() {}

// runs lets the puller work until the test ends.
func runs(t *testing.T, p *uploads) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		p.jobs.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func TestISOPull(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	iso := isoOf(content)
	broken := errors.New("connection reset")
	for _, row := range []struct {
		name string
		give func(*isoHub) func(int64, []byte) (io.Reader, error)
		err  string // while it is not done, at some time
	}{
		{"at once", func(*isoHub) func(int64, []byte) (io.Reader, error) { return nil }, ""},
		{"the connection breaks again and again", func(*isoHub) func(int64, []byte) (io.Reader, error) {
			return func(_ int64, rest []byte) (io.Reader, error) {
				n := min(len(rest), 300_000)
				return io.MultiReader(bytes.NewReader(rest[:n]), iotest.ErrReader(broken)), nil
			}
		}, "connection reset"},
		{"it ends early", func(*isoHub) func(int64, []byte) (io.Reader, error) {
			return func(_ int64, rest []byte) (io.Reader, error) { return bytes.NewReader(rest[:(len(rest)+1)/2]), nil }
		}, ""},
		{"nothing comes for a while", func(h *isoHub) func(int64, []byte) (io.Reader, error) {
			return func(_ int64, rest []byte) (io.Reader, error) {
				if len(h.asked) < 3 {
					return bytes.NewReader(nil), nil
				}
				return bytes.NewReader(rest), nil
			}
		}, "gave nothing"},
		{"the hub is busy", func(h *isoHub) func(int64, []byte) (io.Reader, error) {
			return func(_ int64, rest []byte) (io.Reader, error) {
				if len(h.asked) < 5 {
					return nil, protocol.Errorf(protocol.CodeUnavailable, "fetch file", "64 agents fetch already")
				}
				return bytes.NewReader(rest), nil
			}
		}, "fetch already"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				hub := &isoHub{files: map[string][]byte{iso.Digest: content}}
				hub.give = row.give(hub)
				p := isoBench(t, dir, hub, 0, ISOLimits{Spread: time.Minute}, nil)
				runs(t, p)
				p.Want(iso)
				p.Want(iso)
				saw := ""
				for began := time.Now(); ; time.Sleep(time.Second) {
					done, progress, err := p.State(iso)
					if err != nil {
						saw = err.Error()
						if strings.Contains(progress, "local") {
							t.Errorf("%s beside %v", progress, err)
						}
					}
					if done {
						break
					}
					if time.Since(began) > time.Hour {
						t.Fatalf("%s, %v, asked at %v", progress, err, hub.asked)
					}
				}
				if row.err == "" && saw != "" || !strings.Contains(saw, row.err) {
					t.Errorf("saw %q", saw)
				}
				for i := 1; i < len(hub.asked); i++ {
					if hub.asked[i] < hub.asked[i-1] {
						t.Errorf("asked at %v: what came was not kept", hub.asked)
					}
				}
				if err := p.cfg.Blobs.Verify(t.Context(), iso.Digest); err != nil || p.missing() != 0 {
					t.Errorf("%v, %d missing", err, p.missing())
				}
			})
		})
	}
}

// What the hub gives under a digest is compared with it; what is damaged at the agent is
// fetched again.
func TestISOWrongContent(t *testing.T) {
	right, wrong := []byte("right"), []byte("wrong")
	iso := isoOf(right)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hub := &isoHub{files: map[string][]byte{iso.Digest: wrong}}
		p := isoBench(t, dir, hub, 0, ISOLimits{}, nil)
		runs(t, p)
		p.Want(iso)
		synctest.Wait()
		if done, _, err := p.State(iso); done || protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%t, %v", done, err)
		}
		hub.mu.Lock()
		hub.files[iso.Digest] = right
		hub.mu.Unlock()
		time.Sleep(isoPauseMin + time.Second)
		if done, progress, err := p.State(iso); !done || progress != "local" || err != nil {
			t.Errorf("%t, %s, %v", done, progress, err)
		}
	})
	if err := errors.Join(os.Chmod(filepath.Join(dir, iso.Digest[7:]), 0o600), os.WriteFile(filepath.Join(dir, iso.Digest[7:]), wrong, 0o600)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // as after the agent's start
		hub := &isoHub{files: map[string][]byte{iso.Digest: right}}
		p := isoBench(t, dir, hub, 0, ISOLimits{}, nil)
		runs(t, p)
		p.Want(iso)
		synctest.Wait()
		if done, _, err := p.State(iso); !done || err != nil || len(hub.asked) != 1 {
			t.Errorf("%t, %v, asked at %v", done, err, hub.asked)
		}
	})
}

// Room is known before the hub is asked, and a file that is not wanted any more gives back
// what it has.
func TestISORoom(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 1000)
	iso, other := isoOf(content), isoOf(bytes.Repeat([]byte("y"), 600))
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hub := &isoHub{files: map[string][]byte{iso.Digest: content, other.Digest: bytes.Repeat([]byte("y"), 600)}}
		hub.give = func(_ int64, rest []byte) (io.Reader, error) {
			if len(rest) == 600 {
				return bytes.NewReader(rest), nil
			}
			return io.MultiReader(bytes.NewReader(rest[:500]), iotest.ErrReader(errors.New("reset"))), nil
		}
		p := isoBench(t, dir, hub, 1400, ISOLimits{}, nil)
		runs(t, p)
		p.Want(iso)
		synctest.Wait()
		if _, progress, err := p.State(iso); err == nil || !strings.Contains(progress, "50 %") {
			t.Errorf("%s, %v", progress, err)
		}
		if got := p.missing(); got != 500 {
			t.Errorf("%d missing", got)
		}
		before := len(hub.asked)
		big := isoOf(bytes.Repeat([]byte("z"), 2000))
		p.Want(big)
		synctest.Wait()
		if done, _, err := p.State(big); done || !errors.Is(err, blob.ErrInsufficient) || len(hub.asked) != before {
			t.Errorf("%t, %v, asked %d times", done, err, len(hub.asked)-before)
		}
		p.Keep(func(d string) bool { return d == other.Digest })
		if parts := p.cfg.Blobs.Parts(); len(parts) != 0 {
			t.Errorf("left: %v", parts)
		}
		if _, progress, err := p.State(iso); progress != "not asked for" || err != nil {
			t.Errorf("%s, %v", progress, err)
		}
		p.Want(other)
		synctest.Wait()
		if done, _, err := p.State(other); !done || err != nil {
			t.Errorf("%t, %v", done, err)
		}
		p.Want(iso) // pinned is pinned: the other one stays
		time.Sleep(time.Hour)
		if _, _, err := p.State(iso); !errors.Is(err, blob.ErrInsufficient) || !p.cfg.Blobs.Has(other.Digest) {
			t.Errorf("%v", err)
		}
	})
}

// A file that is dropped in the middle of its fetch leaves nothing, and is begun anew when
// it is wanted again.
func TestISODropped(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 1000)
	iso := isoOf(content)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hub := &isoHub{files: map[string][]byte{iso.Digest: content}}
		r, w := io.Pipe()
		hub.give = func(_ int64, rest []byte) (io.Reader, error) {
			if len(hub.asked) == 1 {
				return r, nil
			}
			return bytes.NewReader(rest), nil
		}
		p := isoBench(t, dir, hub, 0, ISOLimits{}, nil)
		runs(t, p)
		p.Want(iso)
		if _, err := w.Write(content[:100]); err != nil {
			t.Fatal(err)
		}
		p.Keep(func(string) bool { return false })
		p.Want(iso) // another document names it at once
		if err := w.CloseWithError(errors.New("reset")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(isoPauseMax)
		if done, _, err := p.State(iso); !done || err != nil {
			t.Errorf("%t, %v", done, err)
		}
		p.Keep(func(string) bool { return false })
		if parts := p.cfg.Blobs.Parts(); len(parts) != 0 {
			t.Errorf("left: %v", parts)
		}
	})
}

// A hub that sends nothing and does not hang up is given up, and asked again.
func TestISOStall(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 1000)
	iso := isoOf(content)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hub := &isoHub{files: map[string][]byte{iso.Digest: content}}
		p := isoBench(t, dir, stalls{hub}, 0, ISOLimits{}, nil)
		runs(t, p)
		p.Want(iso)
		time.Sleep(isoStall + time.Second)
		if _, progress, err := p.State(iso); !errors.Is(err, errStalled) || protocol.CodeOf(err) != protocol.CodeTimeout || !strings.Contains(progress, "10 %") {
			t.Errorf("%s, %v", progress, err)
		}
	})
}

// stalls gives 100 bytes and then nothing, until the context ends.
type stalls struct{ *isoHub }

func (s stalls) Fetch(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	body, err := s.isoHub.Fetch(ctx, digest, offset, n)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.MultiReader(io.LimitReader(body, 100), silent{ctx})), nil
}

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// The bandwidth of the agent's file is kept, whatever the hub gives, and waiting for it is
// no stall.
func TestISOBandwidth(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 300<<10)
	iso := isoOf(content)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := isoBench(t, dir, &isoHub{files: map[string][]byte{iso.Digest: content}}, 0, ISOLimits{Bandwidth: 1 << 10}, nil)
		runs(t, p)
		began := time.Now()
		p.Want(iso)
		for done := false; !done; {
			time.Sleep(time.Second)
			var err error
			if done, _, err = p.State(iso); err != nil || time.Since(began) > time.Hour {
				t.Fatal(time.Since(began), err)
			}
		}
		if took := time.Since(began); took < 298*time.Second || took > 302*time.Second {
			t.Errorf("300 KiB at 1 KiB/s took %s", took)
		}
	})
}

// Wherever the agent dies, it goes on with what it has and ends with the file.
func TestISOCrashPoints(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<12) // 64 KiB
	iso := isoOf(content)
	half := func(_ int64, rest []byte) (io.Reader, error) { return bytes.NewReader(rest[:(len(rest)+1)/2]), nil }
	statetest.Points(t, func(run statetest.Run) {
		p := isoBench(t, run.Dir, &isoHub{files: map[string][]byte{iso.Digest: content}, give: half}, 0, ISOLimits{}, run.Crash)
		p.Want(iso)
		p.jobs.Work(context.Background())
		if done, _, err := p.State(iso); done {
			run.Ack("done")
		} else {
			panic(err)
		}
	}, func(t *testing.T, k statetest.Kill) {
		hub := &isoHub{files: map[string][]byte{iso.Digest: content}}
		p := isoBench(t, k.Dir, hub, 0, ISOLimits{}, nil)
		if len(k.Acked) > 0 && !p.cfg.Blobs.Has(iso.Digest) {
			t.Error("what was local is lost")
		}
		had := int64(0)
		for _, part := range p.cfg.Blobs.Parts() {
			had = part.Bytes
		}
		p.Want(iso)
		p.jobs.Work(t.Context())
		if done, _, err := p.State(iso); !done || err != nil {
			t.Errorf("%t, %v", done, err)
		}
		if len(hub.asked) > 0 && k.Point == "agent.iso.piece" && hub.asked[0] != had {
			t.Errorf("had %d, asked at %v", had, hub.asked)
		}
		if err := p.cfg.Blobs.Verify(t.Context(), iso.Digest); err != nil {
			t.Error(err)
		}
	})
}

// An agent that joined with a release that kept no API says so.
func TestISOWithoutHub(t *testing.T) {
	p := isoBench(t, t.TempDir(), nil, 0, ISOLimits{}, nil)
	iso := isoOf([]byte("x"))
	p.Want(iso)
	p.jobs.Work(t.Context())
	if done, _, err := p.State(iso); done || protocol.CodeOf(err) != protocol.CodeUnsupported || protocol.HintOf(err) == "" {
		t.Errorf("%t, %v", done, err)
	}
}
