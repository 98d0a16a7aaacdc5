package slots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/file"
)

// MaxRecord bounds a record, in bytes.
const MaxRecord = 64 << 20

// The crash points of a write.
const (
	PointFirst = "slots.first" // the record is in one slot, on disk
	PointBoth  = "slots.both"  // it is in both
	PointGrown = "slots.grown" // one slot is larger than the other
)

// Config says where a pair lies.
type Config struct {
	Dir  string // there is one
	Name string // of the files in it, without .0 and .1
	// Size is for how large a record room is taken at first, in bytes.
	Size int
	// Crash is asked at the crash points; nil in production.
	Crash state.Crasher
}

// Pair is two slots. It is safe for concurrent use.
type Pair struct {
	cfg     Config
	inPlace bool

	mu       sync.Mutex
	slots    [2]place
	sequence uint64 // the highest that may be on disk
	newer    int    // the slot that is whole for certain, if one is
	record   []byte
	has      bool
}

// place is where one slot lies.
type place struct {
	file *os.File // nil where it could only be read, or not even that
	room int      // for a record, in bytes
}

// Open opens the pair, or makes one. That one slot is not whole is what a crash leaves, and is
// mended by the next write. A record that is there is read also where nothing can be written.
// Errors: unavailable (the disk, or no room for a new pair), internal with [ErrDamaged] (something
// is there, and no slot is whole).
func Open(cfg Config) (*Pair, error) {
	const op = "open slots"
	p := &Pair{cfg: cfg, inPlace: writesInPlace(cfg.Dir)}
	var found [2]slot
	var whole, empty [2]bool
	var errs []error
	for i := range p.slots {
		raw, err := p.open(i)
		errs = append(errs, err)
		found[i], whole[i] = decode(raw)
		empty[i] = blank(raw)
	}
	if err := errors.Join(errs...); err != nil && !whole[0] && !whole[1] {
		return nil, errors.Join(protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).
			WithHint("look at the space on the disk of %s, and whether it can be written to", cfg.Dir), p.Close())
	}
	for i, s := range found {
		if whole[i] && (!p.has || s.sequence > p.sequence) {
			p.has, p.newer, p.sequence, p.record = true, i, s.sequence, s.data
		}
	}
	// The slot that is not whole may have been about to get the next number.
	p.sequence++
	if !p.has && (!empty[0] || !empty[1]) {
		return nil, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%s: %w", p.path(0), ErrDamaged), p.Close())
	}
	return p, nil
}

// ErrDamaged says that there was a record, and that no slot is whole.
var ErrDamaged = errors.New("no slot is whole")

func (p *Pair) path(i int) string {
	return filepath.Join(p.cfg.Dir, fmt.Sprintf("%s.%d", p.cfg.Name, i))
}

// open opens a slot, makes it if there is none, and returns what it has.
func (p *Pair) open(i int) ([]byte, error) {
	raw, err := os.ReadFile(p.path(i))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) < headerSize {
		raw = make([]byte, headerSize+p.cfg.Size)
		err = file.Replace(p.path(i), raw, 0o600)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(p.path(i), os.O_WRONLY, 0)
	if err != nil {
		return raw, err
	}
	p.slots[i] = place{f, len(raw) - headerSize}
	return raw, nil
}

// InPlace reports whether the file system writes in place, so that a record that fits can be
// written whatever else is on it.
func (p *Pair) InPlace() bool { return p.inPlace }

// Read returns the record, and reports whether there is one. Do not change it.
func (p *Pair) Read() ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.record, p.has
}

// Write replaces the record. When it returns nil both slots have it, on disk. After an error the
// next Open finds the record before, or the new one; Read returns the one before. Do not change
// data afterwards. Errors: invalid (longer than MaxRecord), unavailable (the disk; or no space for
// larger slots).
func (p *Pair) Write(data []byte) error {
	const op = "write slots"
	if len(data) > MaxRecord {
		return protocol.Errorf(protocol.CodeInvalid, op, "the record has %d bytes, and may have %d", len(data), MaxRecord)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence++
	raw := encode(p.sequence, data)
	// The slot that is whole for certain is written when the other one is.
	for _, point := range [2]string{PointFirst, PointBoth} {
		older := 1 - p.newer
		if err := p.put(older, raw); err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("look at the disk of %s", p.cfg.Dir)
		}
		p.newer = older
		p.cfg.Crash.At(point)
	}
	p.record, p.has = data, true
	return nil
}

// put writes one slot, and makes a larger one if it must.
func (p *Pair) put(i int, raw []byte) error {
	s := &p.slots[i]
	if s.file == nil { // it could not be opened
		if _, err := p.open(i); err != nil {
			return err
		}
	}
	if len(raw) <= headerSize+s.room {
		_, err := s.file.WriteAt(raw, 0)
		return errors.Join(err, s.file.Sync())
	}
	// Twice the record, so that it grows seldom.
	larger := make([]byte, 2*len(raw))
	copy(larger, raw)
	if err := file.Replace(p.path(i), larger, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(p.path(i), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_ = s.file.Close() // nothing of it is wanted any more
	*s = place{f, len(larger) - headerSize}
	p.cfg.Crash.At(PointGrown)
	return nil
}

// Close closes the files.
func (p *Pair) Close() error {
	var errs []error
	for _, s := range p.slots {
		if s.file != nil {
			errs = append(errs, s.file.Close())
		}
	}
	return errors.Join(errs...)
}
