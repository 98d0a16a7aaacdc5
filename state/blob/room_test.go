package blob_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// ten is a content of ten bytes.
func ten(c byte) string { return strings.Repeat(string(c), 10) }

// held are those of a to z that the store has.
func held(s *blob.Store) string {
	var out []byte
	for c := byte('a'); c <= 'z'; c++ {
		if s.Has(digest(ten(c))) {
			out = append(out, c)
		}
	}
	return string(out)
}

func TestEviction(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps string // a write, A open, +a pin, -a unpin, !a a write that is refused, ^ reopen
		want  string
	}{
		{"room for all", "abc", "abc"},
		{"the oldest goes", "abcd", "bcd"},
		{"opened is young", "abcAd", "acd"},
		{"written again is young", "abcad", "acd"},
		{"pinned stays", "+aabcd", "acd"},
		{"pinned twice, unpinned once", "+a+aabc-ad", "acd"},
		{"unpinned goes", "+aabc-ad", "bcd"},
		{"all pinned", "+aa+bb+cc!d", "abc"},
		{"use is kept over a restart", "abcA^d", "acd"},
		{"pins are not", "+aabc^d", "bcd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := blob.Config{Dir: t.TempDir(), Quota: 30}
			s := open(t, cfg)
			for i := 0; i < len(c.steps); i++ {
				var err error
				switch ch := c.steps[i]; {
				case ch == '+':
					i++
					err = s.Pin(digest(ten(c.steps[i])))
				case ch == '-':
					i++
					err = s.Unpin(digest(ten(c.steps[i])))
				case ch == '!':
					i++
					content := ten(c.steps[i])
					err = s.Write(t.Context(), digest(content), 10, strings.NewReader(content))
					if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "insufficient storage") || !strings.Contains(err.Error(), "needs 10 bytes, 0 are free") {
						t.Errorf("write over quota: %v", err)
					}
					err = nil
				case ch == '^':
					err = s.Close()
					s = open(t, cfg)
				case ch >= 'A' && ch <= 'Z':
					var f *os.File
					f, _, err = s.Open(digest(ten(ch + 'a' - 'A')))
					if err == nil {
						err = f.Close()
					}
				default:
					write(t, s, ten(ch))
				}
				if err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if got := held(s); got != c.want {
				t.Errorf("has %q, want %q", got, c.want)
			}
		})
	}
}

// What cannot fit at all removes nothing.
func TestTooBigEvictsNothing(t *testing.T) {
	s := open(t, blob.Config{Dir: t.TempDir(), Quota: 30})
	write(t, s, ten('a'))
	big := strings.Repeat("x", 31)
	if err := s.Write(t.Context(), digest(big), 31, strings.NewReader(big)); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("31 bytes into a quota of 30: %v", err)
	}
	if got := held(s); got != "a" {
		t.Errorf("has %q", got)
	}
	if err := s.Unpin(digest("x")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("Unpin of what is not pinned: %v", err)
	}
}

// Concurrent writes of one digest read one source; if that fails, the next
// one's is read.
func TestSingleFlight(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, blob.Config{Dir: dir, Quota: 10}) // no room for it twice
		content := ten('a')
		r, w := io.Pipe()
		results := make(chan error)
		start := func(ctx context.Context, r io.Reader) {
			go func() { results <- s.Write(ctx, digest(content), 10, r) }()
			synctest.Wait()
		}
		start(t.Context(), r)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start(short, iotest.ErrReader(errors.New("was read")))
		if err := <-results; protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("the one with a deadline: %v", err)
		}
		start(t.Context(), strings.NewReader(content))
		_ = w.CloseWithError(errors.New("mirror away"))
		errs := []string{protocolCode(<-results), protocolCode(<-results)}
		slices.Sort(errs)
		if !slices.Equal(errs, []string{"", "unavailable"}) || !s.Has(digest(content)) {
			t.Errorf("results %q, has %t", errs, s.Has(digest(content)))
		}
	})
}

func protocolCode(err error) string { return string(protocol.CodeOf(err)) }

// A disk that is full although the quota is not.
func TestFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 4, func(t *testing.T, mount string) {
		dir := filepath.Join(mount, "blobs")
		s := open(t, blob.Config{Dir: dir, MinFree: 1 << 20})
		ballast := filepath.Join(mount, "ballast")
		content := strings.Repeat("x", 2<<20)
		full := func(name string, r io.Reader) {
			t.Helper()
			err := s.Write(t.Context(), digest(content), int64(len(content)), r)
			if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "insufficient storage") || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", name, err)
			}
			if got := files(t, dir); len(got) != 0 {
				t.Errorf("%s: left behind: %q", name, got)
			}
		}
		statetest.Fill(t, ballast, 2<<20)
		full("known before", iotest.ErrReader(errors.New("was read")))
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		// Somebody else fills the disk during the write.
		full("in the middle", io.MultiReader(strings.NewReader(content[:1<<20]), readerFunc(func([]byte) (int, error) {
			statetest.Fill(t, ballast, 0)
			return 0, io.EOF
		}), strings.NewReader(content[1<<20:])))
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		write(t, s, content)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCrashPoints(t *testing.T) {
	cfg := func(dir string) blob.Config { return blob.Config{Dir: dir} }
	statetest.Points(t, func(run statetest.Run) {
		c := cfg(run.Dir)
		c.Crash = run.Crash
		s, err := blob.Open(c)
		if err != nil {
			panic(err)
		}
		for _, content := range []string{ten('a'), ten('b')} {
			if err := s.Write(context.Background(), digest(content), 10, strings.NewReader(content)); err != nil {
				panic(err)
			}
			run.Ack(content[:1])
		}
	}, func(t *testing.T, k statetest.Kill) {
		s := open(t, cfg(k.Dir))
		got := held(s)
		if acked := strings.Join(k.Acked, ""); !strings.HasPrefix(got, acked) {
			t.Errorf("acknowledged %q, has %q", acked, got)
		}
		for _, c := range []byte(got) {
			if err := s.Verify(t.Context(), digest(ten(c))); err != nil {
				t.Error(err)
			}
		}
		for _, f := range files(t, k.Dir) {
			if strings.HasPrefix(f, "tmp-") {
				t.Errorf("left behind: %s", f)
			}
		}
		write(t, s, ten('a'))
		write(t, s, ten('b'))
	})
}
