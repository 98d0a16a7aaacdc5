package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

func part(t *testing.T, s *blob.Store, content string) *blob.Part {
	t.Helper()
	p, err := s.Part(t.Context(), digest(content), int64(len(content)))
	if err != nil || p == nil {
		t.Fatalf("%v, %v", p, err)
	}
	t.Cleanup(func() { _ = p.Close() }) // some tests end it themselves
	return p
}

func appendTo(t *testing.T, p *blob.Part, content string) {
	t.Helper()
	if n, err := p.Append(t.Context(), strings.NewReader(content)); err != nil || n != int64(len(content)) {
		t.Fatalf("%d, %v", n, err)
	}
}

func partFile(dir, content string) string {
	return filepath.Join(dir, "part-"+strings.TrimPrefix(digest(content), "sha256:"))
}

func TestPart(t *testing.T) {
	const content = "kernel and initrd"
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir, Quota: 20})
	p := part(t, s, content)
	appendTo(t, p, content[:6])
	if _, err := p.Append(t.Context(), iotest.ErrReader(errors.New("link down"))); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a source that fails: %v", err)
	}
	// What came before the error stays.
	if _, err := p.Append(t.Context(), io.MultiReader(strings.NewReader(content[6:7]), iotest.ErrReader(errors.New("link down")))); err == nil || p.Offset() != 7 {
		t.Errorf("at %d, %v", p.Offset(), err)
	}
	if _, err := s.Part(t.Context(), digest(content), int64(len(content))); !errors.Is(err, blob.ErrWriting) {
		t.Errorf("two parts of one blob: %v", err)
	}
	if err := s.DropPart(digest(content)); !errors.Is(err, blob.ErrWriting) {
		t.Errorf("dropped while it is open: %v", err)
	}
	if err := p.Finish(); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "7 of 17") {
		t.Errorf("finished early: %v", err)
	}
	if s.Has(digest(content)) {
		t.Error("there before it is whole")
	}
	for range 2 { // as after a break, and after a restart
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if got := s.Parts(); len(got) != 1 || got[0] != (blob.PartState{Digest: digest(content), Bytes: 7}) {
			t.Errorf("%+v", got)
		}
		p = part(t, s, content)
		if p.Offset() != 7 {
			t.Fatalf("goes on at %d", p.Offset())
		}
		if err := errors.Join(p.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		s = open(t, blob.Config{Dir: dir, Quota: 20})
		p = part(t, s, content)
	}
	if n, err := p.Append(t.Context(), strings.NewReader(content[7:]+"x")); protocol.CodeOf(err) != protocol.CodeInvalid || n > 10 {
		t.Errorf("longer than it may be: %d, %v", n, err)
	}
	appendTo(t, p, content[p.Offset():])
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), digest(content)); err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 1 || len(s.Parts()) != 0 {
		t.Errorf("left behind: %q, %v", got, s.Parts())
	}
	if again, err := s.Part(t.Context(), digest(content), int64(len(content))); again != nil || err != nil {
		t.Errorf("of what is there: %v, %v", again, err)
	}
	for what, err := range map[string]error{"close": p.Close(), "drop": p.Drop()} {
		if err != nil {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	if _, err := p.Append(t.Context(), strings.NewReader("x")); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("append after the end: %v", err)
	}
	if err := p.Finish(); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("finish after the end: %v", err)
	}
}

// What is on disk of a part is believed only as far as its mark and its hash say.
func TestPartDamaged(t *testing.T) {
	const content = "0123456789"
	for _, row := range []struct {
		name   string
		damage func(file string) error
		want   int64
	}{
		{"nothing", func(string) error { return nil }, 6},
		{"one bit", func(f string) error { return os.WriteFile(f, []byte("012345"[:5]+"4"), 0o600) }, 0},
		{"cut short", func(f string) error { return os.Truncate(f, 5) }, 0},
		{"more than the mark", func(f string) error { return os.WriteFile(f, []byte("012345xx"), 0o600) }, 6},
		{"no mark", func(f string) error { return os.Remove(f + ".sum") }, 0},
		{"a mark of another part", func(f string) error { return os.WriteFile(f+".sum", []byte("6 "+strings.Repeat("0", 64)+"\n"), 0o600) }, 0},
		{"a mark that is none", func(f string) error { return os.WriteFile(f+".sum", []byte("6"), 0o600) }, 0},
		{"a mark beyond the end", func(f string) error {
			return os.WriteFile(f+".sum", []byte("11 "+strings.Repeat("0", 64)+"\n"), 0o600)
		}, 0},
		{"no part", os.Remove, 0},
		{"read-only, of an end that was cut off", func(f string) error { return os.Chmod(f, 0o400) }, 6},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, blob.Config{Dir: dir})
			p := part(t, s, content)
			appendTo(t, p, content[:6])
			if err := errors.Join(p.Close(), s.Close(), row.damage(partFile(dir, content))); err != nil {
				t.Fatal(err)
			}
			s = open(t, blob.Config{Dir: dir})
			p = part(t, s, content)
			if p.Offset() != row.want {
				t.Errorf("goes on at %d, want %d", p.Offset(), row.want)
			}
			appendTo(t, p, content[p.Offset():])
			if err := errors.Join(p.Finish(), s.Verify(t.Context(), digest(content))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPartOfOtherContent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir})
	p := part(t, s, "right")
	appendTo(t, p, "wrong")
	if err := p.Finish(); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), digest("wrong")) {
		t.Errorf("%v", err)
	}
	if got := files(t, dir); len(got) != 0 || s.Has(digest("right")) || len(s.Parts()) != 0 {
		t.Errorf("left behind: %q, %v", got, s.Parts())
	}
	p = part(t, s, "right")
	appendTo(t, p, "right")
	if err := p.Drop(); err != nil || len(files(t, dir)) != 0 {
		t.Errorf("dropped: %v, %q", err, files(t, dir))
	}
	p = part(t, s, "right")
	appendTo(t, p, "ri")
	if err := errors.Join(p.Close(), s.DropPart(digest("right")), s.DropPart(digest("right"))); err != nil || len(files(t, dir)) != 0 {
		t.Errorf("dropped: %v, %q", err, files(t, dir))
	}
}

// A part has room for all of it before its first byte, and what is on disk of it counts
// also while nobody writes it.
func TestPartRoom(t *testing.T) {
	cfg := blob.Config{Dir: t.TempDir(), Quota: 30}
	s := open(t, cfg)
	p := part(t, s, ten('p')+ten('p'))
	refused := func(what string) {
		t.Helper()
		if err := s.Write(t.Context(), digest(ten('b')), 10, strings.NewReader(ten('b'))); !errors.Is(err, blob.ErrInsufficient) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Pin(digest(ten('a'))); err != nil {
		t.Fatal(err)
	}
	write(t, s, ten('a'))
	refused("nothing of it is there")
	appendTo(t, p, ten('p'))
	refused("half of it is there")
	if _, err := s.Part(t.Context(), digest(ten('c')), 10); !errors.Is(err, blob.ErrInsufficient) {
		t.Errorf("another part: %v", err)
	}
	if err := errors.Join(p.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, cfg)
	if err := s.Pin(digest(ten('a'))); err != nil {
		t.Fatal(err)
	}
	write(t, s, ten('b')) // 10 of a, 10 of b, 10 of the part
	if err := s.Pin(digest(ten('b'))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Part(t.Context(), digest(ten('p')+ten('p')), 20); !errors.Is(err, blob.ErrInsufficient) {
		t.Errorf("the rest has no room: %v", err)
	}
	if err := s.Unpin(digest(ten('b'))); err != nil {
		t.Fatal(err)
	}
	p = part(t, s, ten('p')+ten('p')) // b goes
	if p.Offset() != 10 || held(s) != "a" {
		t.Errorf("at %d beside %q", p.Offset(), held(s))
	}
}

func TestPartCrashPoints(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 3<<10)
	cfg := func(dir string) blob.Config { return blob.Config{Dir: dir} }
	statetest.Points(t, func(run statetest.Run) {
		c := cfg(run.Dir)
		c.Crash = run.Crash
		s, err := blob.Open(c)
		if err != nil {
			panic(err)
		}
		for at := 0; at < len(content); at += len(content) / 3 {
			p, err := s.Part(context.Background(), digest(content), int64(len(content)))
			if err != nil {
				panic(err)
			}
			end := at + len(content)/3
			if _, err := p.Append(context.Background(), strings.NewReader(content[at:end])); err != nil {
				panic(err)
			}
			if end == len(content) {
				err = p.Finish()
			} else {
				err = p.Close()
			}
			if err != nil {
				panic(err)
			}
			run.Ack(fmt.Sprint(end))
		}
	}, func(t *testing.T, k statetest.Kill) {
		s := open(t, cfg(k.Dir))
		var acked int64
		if n := len(k.Acked); n > 0 {
			if _, err := fmt.Sscan(k.Acked[n-1], &acked); err != nil {
				t.Fatal(err)
			}
		}
		p, err := s.Part(t.Context(), digest(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			if err := s.Verify(t.Context(), digest(content)); err != nil {
				t.Error(err)
			}
		} else {
			if p.Offset() < acked {
				t.Errorf("goes on at %d, acknowledged %d", p.Offset(), acked)
			}
			appendTo(t, p, content[p.Offset():])
			if err := p.Finish(); err != nil {
				t.Error(err)
			}
		}
		if got := files(t, k.Dir); len(got) != 1 {
			t.Errorf("left behind: %q", got)
		}
	})
}

// A disk that somebody else fills while a part comes: nothing is lost, and it goes on
// when there is room.
func TestPartFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 4, func(t *testing.T, mount string) {
		dir, ballast := filepath.Join(mount, "blobs"), filepath.Join(mount, "ballast")
		s := open(t, blob.Config{Dir: dir, MinFree: 256 << 10})
		content := strings.Repeat("0123456789abcdef", 2<<16)
		p := part(t, s, content)
		appendTo(t, p, content[:1<<20])
		statetest.Fill(t, ballast, 0)
		_, err := p.Append(t.Context(), strings.NewReader(content[1<<20:]))
		if !errors.Is(err, blob.ErrInsufficient) {
			t.Errorf("on a full disk: %v", err)
		}
		at := p.Offset()
		if at < 1<<20 {
			t.Errorf("at %d", at)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		appendTo(t, p, content[at:])
		if err := errors.Join(p.Finish(), s.Verify(t.Context(), digest(content))); err != nil {
			t.Error(err)
		}
	})
}

// Content whose digest nobody knows is written under that which it has.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir, Quota: 30})
	fill := func(content string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, content); return err }
	}
	for range 2 { // the second finds it there
		d, n, err := s.Make(t.Context(), 10, fill(ten('a')))
		if err != nil || d != digest(ten('a')) || n != 10 || held(s) != "a" || len(files(t, dir)) != 1 {
			t.Errorf("%s, %d, %v; has %q in %q", d, n, err, held(s), files(t, dir))
		}
	}
	if err := s.Pin(digest(ten('a'))); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for name, row := range map[string]struct {
		limit int64
		fill  func(io.Writer) error
		want  error
	}{
		"over its limit": {9, fill(ten('b')), blob.ErrLimit},
		"over the quota": {40, fill(ten('b') + ten('b') + "b"), blob.ErrInsufficient},
		"broken source":  {40, func(w io.Writer) error { return errors.Join(fill("b")(w), broken) }, broken},
	} {
		if _, _, err := s.Make(t.Context(), row.limit, row.fill); !errors.Is(err, row.want) || len(files(t, dir)) != 1 {
			t.Errorf("%s: %v, left %q", name, err, files(t, dir))
		}
	}
	if _, _, err := s.Make(t.Context(), 20, fill(ten('c')+ten('c'))); err != nil {
		t.Errorf("all that was reserved was given back: %v", err)
	}
}

func FuzzMark(f *testing.F) {
	f.Add([]byte("6 " + strings.Repeat("0", 64) + "\n"))
	f.Add([]byte("-1 x\n"))
	f.Add([]byte("99999999999999999999999 " + strings.Repeat("0", 64) + "\n"))
	f.Fuzz(func(t *testing.T, mark []byte) {
		dir := t.TempDir()
		file := partFile(dir, "content")
		if err := errors.Join(os.WriteFile(file, []byte("cont"), 0o600), os.WriteFile(file+".sum", mark, 0o600)); err != nil {
			t.Fatal(err)
		}
		s := open(t, blob.Config{Dir: dir})
		p := part(t, s, "content")
		if at := p.Offset(); at != 0 && !bytes.Contains(mark, []byte(strings.TrimPrefix(digest("content"[:at]), "sha256:"))) {
			t.Fatalf("goes on at %d by the mark %q", at, mark)
		}
		appendTo(t, p, "content"[p.Offset():])
		if err := p.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}
