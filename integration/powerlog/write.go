package powerlog

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// Writer appends to a log. Its methods are safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	last Time
	torn bool
	err  error
}

// Open opens the log of a machine, and says Start. The entries of before are returned:
// what was installed outlives the process.
func Open(path string) (*Writer, []Entry, error) {
	before, err := ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	w := &Writer{file: f}
	// A line that was torn ends here, so that it takes no other along.
	if size, err := f.Seek(0, 2); err == nil && size > 0 {
		w.torn = !endsLine(path, size)
	}
	w.Add(Start, "")
	return w, before, w.Err()
}

func endsLine(path string, size int64) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	last := make([]byte, 1)
	_, err = f.ReadAt(last, size-1)
	return err == nil && last[0] == '\n'
}

// Add writes an entry. The first failure stays. A nil Writer writes nothing.
func (w *Writer) Add(what What, detail string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e := Entry{At: max(Now(), w.last), What: what, Detail: detail}
	w.last = e.At
	line, err := json.Marshal(e)
	if err == nil {
		if w.torn {
			line, w.torn = append([]byte{'\n'}, line...), false
		}
		_, err = w.file.Write(append(line, '\n'))
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("power log: %w", err)
	}
}

// Err is the first failure.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the log.
func (w *Writer) Close() error { return w.file.Close() }
