package installed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
	"rackboot/state/file"
)

// Place is where a program lies.
type Place string

// The places.
const (
	Packaged Place = "packaged" // where the host's package manager puts it
	SlotA    Place = "a"
	SlotB    Place = "b"
)

func (p Place) slot() bool { return p == SlotA || p == SlotB }

// Other is the slot into which the next program goes while p runs.
func (p Place) Other() Place {
	if p == SlotA {
		return SlotB
	}
	return SlotA
}

// Record says which program runs. The zero value is that of a host where nothing was ever recorded.
type Record struct {
	// Packaged is the digest of the packaged program as it was last looked at; empty before.
	Packaged string `json:"packaged,omitempty"`
	// Current is what runs but for a trial, and Digest what it is where it is a slot.
	Current Place  `json:"current"`
	Digest  string `json:"digest,omitempty"`
	// Trial is the program that is tried; nil is none.
	Trial *Trial `json:"trial,omitempty"`
	// Last is what became of the last order that has ended; nil is none.
	Last *Outcome `json:"last,omitempty"`
}

// Trial is a program that runs until the hub has answered it, or its time is over.
type Trial struct {
	Order   string    `json:"order"`
	Slot    Place     `json:"slot"`
	Digest  string    `json:"digest"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"` // for people
}

// Outcome is what became of an order. An empty Order is one that a damaged record had.
type Outcome struct {
	Order   string               `json:"order,omitempty"`
	Stage   message.UpgradeStage `json:"stage"`
	Code    message.UpgradeCode  `json:"code,omitempty"`
	Message string               `json:"message,omitempty"`
	At      time.Time            `json:"at"`
}

// format is that of the files. A program refuses those of another one.
const format = 1

// maxFile bounds a file of the folder, in bytes.
const maxFile = 64 << 10

// ErrDamaged is in the chain of an error when a file is there and is not what was written.
var ErrDamaged = errors.New("the file is damaged")

// Dir is the folder of an agent whose own folder is dataDir.
func Dir(dataDir string) string { return filepath.Join(dataDir, "upgrade") }

// Files are the files of a folder; see [Dir]. Crash is nil in production.
type Files struct {
	Dir   string
	Crash state.Crasher
}

// Program is the path of the program in a slot.
func (f Files) Program(slot Place) string {
	return filepath.Join(f.Dir, string(slot), "rackboot-agent")
}

// Prepare makes the folders and removes what crashes have left.
func (f Files) Prepare() error {
	for _, dir := range []string{f.Dir, filepath.Join(f.Dir, string(SlotA)), filepath.Join(f.Dir, string(SlotB))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "prepare "+dir, "%w", err).WithHint("its parent must belong to the agent's user")
		}
		if err := file.Sweep(dir); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the record. One that is not there is the zero value with Current packaged. Errors: [ErrDamaged], unavailable.
func (f Files) Read() (Record, error) {
	r := Record{Current: Packaged}
	there, err := f.load("record.json", &r)
	if err == nil && there {
		err = r.check()
	}
	if err != nil {
		return Record{Current: Packaged}, err
	}
	return r, nil
}

// Write replaces the record.
func (f Files) Write(r Record) error { return f.store("record.json", r) }

// check says what of a record that was read cannot be.
func (r Record) check() error {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "read the record of upgrades", "%w: "+format, append([]any{ErrDamaged}, args...)...)
	}
	valid := func(digest string) bool { return protocol.ValidDigest(digest) }
	switch {
	case r.Packaged != "" && !valid(r.Packaged):
		return bad("the digest of the packaged program is none")
	case r.Current != Packaged && !r.Current.slot():
		return bad("%.10q is no place", string(r.Current))
	case r.Current.slot() != (r.Digest != "") || r.Digest != "" && !valid(r.Digest):
		return bad("the current program and its digest do not go together")
	case r.Trial != nil && (r.Trial.Order == "" || !r.Trial.Slot.slot() || r.Trial.Slot == r.Current || !valid(r.Trial.Digest)):
		return bad("the trial is none")
	case r.Last != nil && !r.Last.Stage.Ended():
		return bad("an order has ended as %.20q", string(r.Last.Stage))
	}
	return nil
}

// Spent is how much of its time a trial has used, as a number of steps. It is written before a step is begun, so that it is
// never less than what was used: neither restarts nor clocks give a trial more time.
type Spent struct {
	Order string `json:"order"`
	Steps int    `json:"steps"`
}

// ReadSpent reads what the trial of an order has used: nothing where the file is not there or is of another order.
func (f Files) ReadSpent(order string) (steps int, err error) {
	var s Spent
	if _, err := f.load("spent.json", &s); err != nil {
		return 0, err
	}
	if s.Order != order {
		return 0, nil
	}
	if s.Steps < 0 {
		return 0, protocol.Errorf(protocol.CodeInvalid, "read the time of a trial", "%w: %d steps", ErrDamaged, s.Steps)
	}
	return s.Steps, nil
}

// WriteSpent replaces what the trial has used.
func (f Files) WriteSpent(s Spent) error { return f.store("spent.json", s) }

// envelope is how files are written: what is in them beside its digest, so that damage is noticed.
type envelope struct {
	Format int             `json:"format"`
	SHA256 string          `json:"sha256"` // of Value, as it stands
	Value  json.RawMessage `json:"value"`
}

func (f Files) load(name string, into any) (there bool, err error) {
	path := filepath.Join(f.Dir, name)
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, protocol.Errorf(protocol.CodeUnavailable, "read "+path, "%w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxFile))
	if err := errors.Join(err, in.Close()); err != nil {
		return false, protocol.Errorf(protocol.CodeUnavailable, "read "+path, "%w", err)
	}
	if err := decode(raw, into); err != nil {
		return true, protocol.Errorf(protocol.CodeInvalid, "read "+path, "%w", errors.Join(ErrDamaged, err))
	}
	return true, nil
}

func decode(raw []byte, into any) error {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if e.Format != format {
		return fmt.Errorf("it has format %d, and this program reads %d", e.Format, format)
	}
	if e.SHA256 != sum(e.Value) {
		return errors.New("its content does not fit its digest")
	}
	return json.Unmarshal(e.Value, into)
}

func (f Files) store(name string, value any) error {
	raw, err := json.Marshal(value)
	if err == nil {
		raw, err = json.Marshal(envelope{format, sum(raw), raw})
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "write "+name, "%w", err)
	}
	return file.Writer{Crash: f.Crash, Point: "installed." + name}.Replace(filepath.Join(f.Dir, name), raw, 0o600)
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(s[:])
}
