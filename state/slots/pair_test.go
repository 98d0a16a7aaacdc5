package slots_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"rackboot/protocol"
	"rackboot/state/slots"
	"rackboot/state/statetest"
)

func open(t *testing.T, dir string, size int) *slots.Pair {
	t.Helper()
	p, err := slots.Open(slots.Config{Dir: dir, Name: "guard", Size: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func write(t *testing.T, p *slots.Pair, data []byte) {
	t.Helper()
	if err := p.Write(data); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, p *slots.Pair, want []byte) {
	t.Helper()
	if data, ok := p.Read(); !ok || !bytes.Equal(data, want) {
		t.Fatalf("it has %.40q, %t; want %.40q", data, ok, want)
	}
}

func TestPair(t *testing.T) {
	dir := t.TempDir()
	p := open(t, dir, 100)
	if _, ok := p.Read(); ok {
		t.Fatal("a new pair has a record")
	}
	for _, text := range []string{"first", "", "the third, which is longer", "4th"} {
		write(t, p, []byte(text))
		holds(t, p, []byte(text))
		holds(t, open(t, dir, 100), []byte(text))
	}
	long := bytes.Repeat([]byte("long"), 1000)
	write(t, p, long)
	holds(t, open(t, dir, 100), long)
	write(t, p, []byte("short"))
	holds(t, open(t, dir, 100), []byte("short"))
	if err := p.Write(make([]byte, slots.MaxRecord+1)); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a record that is too long: %v", err)
	}
	holds(t, p, []byte("short"))
}

// What one slot lost is in the other.
func TestOneSlotIsDamaged(t *testing.T) {
	damages := map[string]func(t *testing.T, path string){
		"gone":        func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"empty":       func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"cut":         func(t *testing.T, path string) { must(t, os.Truncate(path, 60)) },
		"zeros":       func(t *testing.T, path string) { must(t, os.WriteFile(path, make([]byte, 200), 0o600)) },
		"another's":   func(t *testing.T, path string) { must(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 200), 0o600)) },
		"record":      func(t *testing.T, path string) { flip(t, path, 70) },
		"digest":      func(t *testing.T, path string) { flip(t, path, 30) },
		"sequence":    func(t *testing.T, path string) { flip(t, path, 14) },
		"length":      func(t *testing.T, path string) { flip(t, path, 23) },
		"long length": func(t *testing.T, path string) { flip(t, path, 16) },
	}
	for name, damage := range damages {
		for slot := range 2 {
			t.Run(fmt.Sprint(name, slot), func(t *testing.T) {
				dir := t.TempDir()
				p := open(t, dir, 100)
				write(t, p, []byte("before"))
				write(t, p, []byte("what was written last"))
				damage(t, filepath.Join(dir, fmt.Sprintf("guard.%d", slot)))
				again := open(t, dir, 100)
				holds(t, again, []byte("what was written last"))
				// It is mended by the next write.
				write(t, again, []byte("after"))
				damage(t, filepath.Join(dir, fmt.Sprintf("guard.%d", 1-slot)))
				holds(t, open(t, dir, 100), []byte("after"))
			})
		}
	}
}

// What is there is read also where nothing can be written, and written again when that is over.
func TestReadOnly(t *testing.T) {
	statetest.SmallDisk(t, 1, func(t *testing.T, dir string) {
		first := open(t, dir, 100)
		write(t, first, []byte("text"))
		must(t, first.Close())
		must(t, os.Remove(filepath.Join(dir, "guard.1")))
		must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		p := open(t, dir, 100)
		holds(t, p, []byte("text"))
		if err := p.Write([]byte("more")); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("it is written: %v", err)
		}
		must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""))
		write(t, p, []byte("more"))
		flip(t, filepath.Join(dir, "guard.0"), 58)
		holds(t, open(t, dir, 100), []byte("more"))
	})
}

func TestBothSlotsAreDamaged(t *testing.T) {
	dir := t.TempDir()
	write(t, open(t, dir, 100), []byte("text"))
	for slot := range 2 {
		flip(t, filepath.Join(dir, fmt.Sprintf("guard.%d", slot)), 58)
	}
	if _, err := slots.Open(slots.Config{Dir: dir, Name: "guard", Size: 100}); !errors.Is(err, slots.ErrDamaged) {
		t.Errorf("it opens: %v", err)
	}
}

// A power cut leaves any of the sectors of what was being written, in any number of tries: the
// record is the one before, or the new one.
func TestPowerCut(t *testing.T) {
	const sector = 512
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		dir := t.TempDir()
		p := open(t, dir, 4000)
		before := text(random, 4000)
		write(t, p, before)
		for try := range 3 {
			// What is on disk at the crash points of the next write.
			var files [3][2][]byte
			files[0] = both(t, dir)
			n := 0
			next, err := slots.Open(slots.Config{Dir: dir, Name: "guard", Size: 4000, Crash: func(string) { n++; files[n] = both(t, dir) }})
			must(t, err)
			after := text(random, 4000)
			write(t, next, after)
			must(t, next.Close())
			// The machine ends between two of them.
			from := random.IntN(2)
			cut := files[from]
			for slot := range cut {
				mixed := bytes.Clone(cut[slot])
				for at := 0; at < len(mixed); at += sector {
					if random.IntN(2) == 0 {
						copy(mixed[at:], files[from+1][slot][at:min(at+sector, len(mixed))])
					}
				}
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("guard.%d", slot)), mixed, 0o600))
			}
			got, ok := open(t, dir, 4000).Read()
			if !ok || !bytes.Equal(got, before) && !bytes.Equal(got, after) {
				t.Fatalf("try %d: neither the record before nor the new one", try)
			}
			if from == 1 && !bytes.Equal(got, after) {
				t.Fatalf("try %d: one slot had the new record, and it is lost", try)
			}
			before = bytes.Clone(got)
		}
	}
}

// A full disk takes what fits into the slots, and nothing larger.
func TestDiskIsFull(t *testing.T) {
	statetest.SmallDisk(t, 4, func(t *testing.T, dir string) {
		p := open(t, dir, 64<<10)
		write(t, p, []byte("before"))
		statetest.Fill(t, filepath.Join(dir, "full"), 0)
		record := bytes.Repeat([]byte("r"), 64<<10)
		write(t, p, record)
		holds(t, open(t, dir, 64<<10), record)
		if err := p.Write(make([]byte, 64<<10+1)); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Fatalf("there is room for a larger one: %v", err)
		}
		holds(t, open(t, dir, 64<<10), record)
		write(t, p, []byte("after"))
		holds(t, open(t, dir, 64<<10), []byte("after"))
		must(t, os.Remove(filepath.Join(dir, "full")))
		write(t, p, make([]byte, 64<<10+1))
	})
}

// A process that dies at a crash point leaves the record that was acknowledged, or the next one.
func TestCrashPoints(t *testing.T) {
	records := []string{"0", "1", "2, which is longer than its slots", "3", "4, for which the slots are not large enough either, so that they grow twice", "5"}
	statetest.Points(t, func(run statetest.Run) {
		p, err := slots.Open(slots.Config{Dir: run.Dir, Name: "guard", Size: 10, Crash: run.Crash})
		if err != nil {
			panic(err)
		}
		for i, record := range records {
			if err := p.Write([]byte(record)); err != nil {
				panic(err)
			}
			run.Ack(strconv.Itoa(i))
		}
	}, func(t *testing.T, k statetest.Kill) {
		data, ok := open(t, k.Dir, 10).Read()
		got := slices.Index(records, string(data))
		if !ok || got < len(k.Acked)-1 || got > len(k.Acked) {
			t.Errorf("it has %q, %t, after %d were acknowledged", data, ok, len(k.Acked))
		}
	})
}

func text(random *rand.Rand, most int) []byte {
	out := make([]byte, random.IntN(most))
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

func both(t *testing.T, dir string) (out [2][]byte) {
	t.Helper()
	for slot := range out {
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("guard.%d", slot)))
		must(t, err)
		out[slot] = raw
	}
	return out
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	raw[at] ^= 0x41
	must(t, os.WriteFile(path, raw, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
