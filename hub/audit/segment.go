package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
)

const (
	suffix     = ".jsonl"
	tempPrefix = ".new-"
	nameDigits = 20
	// maxFirst bounds the number in a segment's name, so that numbers after it fit.
	maxFirst = 1 << 52
)

// segment is one file.
type segment struct {
	first uint64    // number of its first entry, as in its name
	at    time.Time // of its first entry; zero if that cannot be read
	prev  string    // of its first entry
	op    string    // of its first entry
	size  int64     // bytes of complete lines
}

func segmentName(first uint64) string { return fmt.Sprintf("%0*d%s", nameDigits, first, suffix) }

func (s segment) name() string { return segmentName(s.first) }

func (l *Log) path(name string) string { return filepath.Join(l.cfg.Dir, name) }

// segmentFile is what is written to.
type segmentFile interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// createFile makes a file that others cannot read, empty.
func createFile(path string) (segmentFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
}

// list reads what segments there are. Files of other names are left alone.
func (l *Log) list() ([]segment, error) {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return nil, l.failed("read its folder", err)
	}
	var out []segment
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), suffix)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || first == 0 || first > maxFirst || e.Name() != segmentName(first) || !e.Type().IsRegular() {
			continue
		}
		s, err := l.look(first)
		if err != nil {
			return nil, l.failed("read "+segmentName(first), err)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b segment) int { return int(int64(a.first) - int64(b.first)) })
	return out, nil
}

// look reads the first line of a segment, and where its last one ends.
func (l *Log) look(first uint64) (segment, error) {
	s := segment{first: first}
	f, err := os.Open(l.path(s.name()))
	if err != nil {
		return s, err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, protocol.MaxAuditLine+1).ReadSlice('\n')
	if err == nil {
		if e, err := protocol.ParseAuditLine(line[:len(line)-1]); err == nil {
			s.at, s.prev, s.op = e.At, e.Prev, e.Op
		}
	}
	s.size, err = complete(f)
	return s, err
}

// complete is the size of a file up to the end of its last complete line.
func complete(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// sweep removes the segments that a crash left unborn.
func (l *Log) sweep() error {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return l.failed("read its folder", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			if err := os.Remove(l.path(e.Name())); err != nil {
				return l.failed("remove "+e.Name(), err)
			}
		}
	}
	return nil
}

func (l *Log) syncFolder() error {
	d, err := os.Open(l.cfg.Dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
