package powerlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// maxLog bounds the file that is read: an hour of a machine is a few hundred KiB.
const maxLog = 64 << 20

// Read reads a log. A line that a killed process has torn is left out: it has no end, or a
// Start follows it. Any other line that is no entry, and a time that goes back, is an
// error, because a judge that skips what it cannot read can be lied to.
func Read(log []byte) ([]Entry, error) {
	if len(log) > maxLog {
		return nil, fmt.Errorf("power log: %d bytes, at most %d", len(log), maxLog)
	}
	var out []Entry
	torn := 0
	for n := 1; len(log) > 0; n++ {
		line, rest, ended := bytes.Cut(log, []byte{'\n'})
		log = rest
		e, err := parse(line)
		switch {
		case !ended:
			return out, nil // its process was killed in the middle, or is writing it
		case err != nil && torn == 0:
			torn = n
			continue
		case err != nil:
			return nil, fmt.Errorf("power log: line %d: %w", n, err)
		case torn != 0 && e.What != Start:
			return nil, fmt.Errorf("power log: line %d is no entry, and no start follows it", torn)
		case len(out) > 0 && e.At < out[len(out)-1].At:
			return nil, fmt.Errorf("power log: line %d: the time goes back", n)
		}
		torn = 0
		out = append(out, e)
	}
	if torn != 0 {
		return nil, fmt.Errorf("power log: line %d is no entry, and no start follows it", torn)
	}
	return out, nil
}

func parse(line []byte) (e Entry, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	switch err := d.Decode(&e); {
	case err != nil:
		return e, err
	case d.More():
		return e, fmt.Errorf("something follows the entry")
	case !slices.Contains(Whats(), e.What):
		return e, fmt.Errorf("%q is nothing that happens to a machine", e.What)
	case e.At <= 0:
		return e, fmt.Errorf("at is not a time")
	}
	return e, nil
}

// ReadFile reads the log in a file.
func ReadFile(path string) ([]Entry, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(raw)
}

// DiskOf is what is installed after the entries; empty for nothing.
func DiskOf(log []Entry) (digest string) {
	for _, e := range log {
		if e.What == Installed {
			digest = e.Detail
		}
	}
	return digest
}
