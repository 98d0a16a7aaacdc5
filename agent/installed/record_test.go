package installed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
)

func files(t *testing.T) Files {
	t.Helper()
	f := Files{Dir: Dir(t.TempDir())}
	if err := f.Prepare(); err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, f Files) Record {
	t.Helper()
	r, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecordIsReadAsWritten(t *testing.T) {
	f := files(t)
	if r := read(t, f); r != (Record{Current: Packaged}) {
		t.Errorf("nothing is read as %+v", r)
	}
	for _, r := range []Record{{Packaged: digest("0"), Current: Packaged}, onTrial(), upgraded(false), upgraded(true), {Current: Packaged, Last: &Outcome{Stage: message.UpgradeReturned, Code: message.UpgradeBroken, At: at}}} {
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, read(t, f)); diff != "" {
			t.Error(diff)
		}
	}
	if err := f.WriteSpent(Spent{order, 7}); err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]int{order: 7, "01other": 0} {
		if n, err := f.ReadSpent(of); err != nil || n != want {
			t.Errorf("%s: %d, %v", of, n, err)
		}
	}
}

// TestDamageIsNoticed: no byte of a file can be another one, or missing, without being noticed.
func TestDamageIsNoticed(t *testing.T) {
	f := files(t)
	if err := errors.Join(f.Write(upgraded(true)), f.WriteSpent(Spent{order, 7})); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() error{
		"record.json": func() error { _, err := f.Read(); return err },
		"spent.json":  func() error { _, err := f.ReadSpent(order); return err },
	} {
		path := filepath.Join(f.Dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, raw []byte) {
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := read(); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 0x01
			try("a flipped bit", bad)
			try("cut short", good[:i])
		}
	}
}

// TestNonsenseIsNoticed: what fits its digest and cannot be is no record either.
func TestNonsenseIsNoticed(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"no place":                     func(r *Record) { r.Current = "" },
		"another place":                func(r *Record) { r.Current = "../a" },
		"a slot without a digest":      func(r *Record) { r.Digest = "" },
		"a packaged one with a digest": func(r *Record) { r.Current = Packaged },
		"a digest that is none":        func(r *Record) { r.Digest = "a" },
		"another packaged digest":      func(r *Record) { r.Packaged = "x" },
		"a trial in the current slot":  func(r *Record) { r.Trial.Slot = SlotA },
		"a trial of the packaged one":  func(r *Record) { r.Trial.Slot = Packaged },
		"a trial without an order":     func(r *Record) { r.Trial.Order = "" },
		"a trial without a digest":     func(r *Record) { r.Trial.Digest = "" },
		"an end that is none":          func(r *Record) { r.Last.Stage = message.UpgradeTrial },
	} {
		f, r := files(t), upgraded(true)
		change(&r)
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read(); !errors.Is(err, ErrDamaged) || got != (Record{Current: Packaged}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestInstall(t *testing.T) {
	content := bytes.Repeat([]byte("program "), 4096)
	name := sum(content)
	for what, row := range map[string]struct {
		content io.Reader
		size    int64
		code    protocol.Code
	}{
		"it":                {bytes.NewReader(content), int64(len(content)), ""},
		"a flipped byte":    {bytes.NewReader(append([]byte("P"), content[1:]...)), int64(len(content)), protocol.CodeInvalid},
		"cut short":         {bytes.NewReader(content[1:]), int64(len(content)), protocol.CodeInvalid},
		"more than it":      {bytes.NewReader(append(bytes.Clone(content), '!')), int64(len(content)), protocol.CodeInvalid},
		"of another size":   {bytes.NewReader(content), int64(len(content)) - 1, protocol.CodeInvalid},
		"a broken transfer": {io.MultiReader(bytes.NewReader(content[:9]), broken{}), int64(len(content)), protocol.CodeUnavailable},
	} {
		f := files(t)
		err := f.Install(t.Context(), SlotA, name, row.size, row.content)
		if protocol.CodeOf(err) != row.code || (err == nil) != (row.code == "") {
			t.Errorf("%s: %v", what, err)
		}
		got, there := DigestOf(f.Program(SlotA))
		if (there == nil) != (row.code == "") || there == nil && got != name {
			t.Errorf("%s: the slot has %s (%v)", what, got, there)
		}
		if left, err := os.ReadDir(filepath.Dir(f.Program(SlotA))); err != nil || len(left) > 1 || len(left) == 1 && row.code != "" {
			t.Errorf("%s: there are %v (%v)", what, left, err)
		}
		if info, err := os.Stat(f.Program(SlotA)); err == nil && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %s", what, info.Mode())
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := files(t).Install(ended, SlotB, name, int64(len(content)), bytes.NewReader(content)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("it broke") }

// crash ends a flow at its n-th crash point.
type crash struct{ n, seen int }

func (c *crash) at(point string) {
	if c.seen++; c.seen == c.n {
		panic(point)
	}
}

// TestCrashPoints: whatever write of slot, record and time ends at whatever place, the launcher starts a program that is
// whole: the one before, or the one on trial with no more than its time. Nothing but the record decides.
func TestCrashPoints(t *testing.T) {
	program := []byte("the new one")
	name := sum(program)
	flow := func(f Files) (err error) { // of an order from its slot to its end, and the trial's time beside it
		r := Record{Packaged: digest("0"), Current: Packaged}
		if err := f.Install(t.Context(), SlotA, name, int64(len(program)), bytes.NewReader(program)); err != nil {
			return err
		}
		r.Trial = &Trial{Order: order, Slot: SlotA, Digest: name, Version: "2.0.0"}
		if err := errors.Join(f.Write(r), f.WriteSpent(Spent{order, 1}), f.WriteSpent(Spent{order, 2})); err != nil {
			return err
		}
		r.Trial, r.Current, r.Digest, r.Last = nil, SlotA, name, &Outcome{Order: order, Stage: message.UpgradeDone, At: at}
		return f.Write(r)
	}
	points := 0
	for n := 1; ; n++ {
		f := files(t)
		if err := f.Write(Record{Packaged: digest("0"), Current: Packaged}); err != nil {
			t.Fatal(err)
		}
		c := &crash{n: n}
		f.Crash = state.Crasher(c.at)
		point := func() (at any) {
			defer func() { at = recover() }()
			if err := flow(f); err != nil {
				t.Fatal(err)
			}
			return nil
		}()
		f.Crash = nil
		if err := f.Prepare(); err != nil {
			t.Fatal(err)
		}
		r, err := f.Read()
		if err != nil {
			t.Fatalf("%v: %v", point, err)
		}
		s := Sight{Packaged: digest("0"), Now: at}
		if r.Trial != nil {
			if s.Spent, err = f.ReadSpent(r.Trial.Order); err != nil {
				t.Fatalf("%v: %v", point, err)
			}
			s.Trial, _ = DigestOf(f.Program(r.Trial.Slot))
		}
		if r.Current.slot() {
			s.Current, _ = DigestOf(f.Program(r.Current))
		}
		after, start := Choose(r, s)
		if start.Place == SlotA && start.Digest != name || start.Place == Packaged && after.Last != nil || start.Digest == "" {
			t.Errorf("%v: starts %+v with %+v", point, start, after)
		}
		for _, dir := range []string{f.Dir, filepath.Join(f.Dir, "a")} {
			if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
				t.Errorf("%v: %v is left", point, left)
			}
		}
		if point == nil {
			if start.Place != SlotA || start.Trial {
				t.Errorf("without a crash %+v starts", start)
			}
			break
		}
		points++
	}
	if points < 15 {
		t.Errorf("%d crash points", points)
	}
}

func FuzzDecode(f *testing.F) {
	dir := Files{Dir: f.TempDir()}
	if err := dir.Write(upgraded(true)); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir.Dir, "record.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"format":1,"sha256":"","value":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := Record{Current: Packaged}
		if decode(raw, &r) != nil || r.check() != nil {
			return
		}
		Choose(r, healthy(r))
	})
}
