package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state"
	"rackboot/state/file"
)

// Stream is a stream of the store.
type Stream struct {
	Name string
	// Copy writes a copy of it.
	Copy func(ctx context.Context, w io.Writer) (backupfile.Stream, error)
}

// Folder is a folder whose files are copied.
type Folder struct {
	Name string // below which its files are in the backup; empty is the beginning
	Dir  string
	// Takes says which files, by their paths below Dir with slashes; nil is all but unfinished ones.
	Takes func(name string) bool
	// Appended says that files grow by lines: of the last one only whole lines are taken.
	Appended bool
	// Flat leaves out what is in folders below it.
	Flat bool
}

// Source is what a hub has that is to be copied.
type Source struct {
	// Streams in the order in which they are copied.
	Streams []Stream
	// Audit is the end of the audit log as it is on disk. It is asked after the streams were copied.
	Audit func() backupfile.AuditHead
	// Epoch of the hub's documents.
	Epoch   func() uint64
	Folders []Folder
	Release string
	// Without names what is not copied, for people.
	Without []string
	Clock   state.Clock
	Crash   state.Crasher // nil in production
}

// Make writes a backup to w. Errors: those of the store and of w, and unavailable.
func (s Source) Make(ctx context.Context, w io.Writer, to []backupfile.Recipient) (m backupfile.Manifest, err error) {
	out, err := backupfile.NewWriter(w, backupfile.Header{Made: s.Clock().UTC().Truncate(time.Second), Release: s.Release}, to)
	if err != nil {
		return m, err
	}
	m.Epoch, m.Without = s.Epoch(), s.Without
	for _, stream := range s.Streams {
		parts := &parts{ctx: ctx, out: out, name: path.Join("store", stream.Name)}
		made, err := stream.Copy(ctx, parts)
		if err == nil {
			err = parts.end()
		}
		if err != nil {
			return m, err
		}
		m.Streams = append(m.Streams, made)
		s.Crash.At("backup.stream")
	}
	m.Audit = s.Audit()
	for _, f := range s.Folders {
		if err := f.add(ctx, out); err != nil {
			return m, err
		}
	}
	return out.Close(m)
}

// partSize is the size of a stream's members in bytes: a member's size must be known before it is
// written, so one is in memory.
const partSize = 4 << 20

// parts is a writer that makes members of what is written.
type parts struct {
	ctx  context.Context
	out  *backupfile.Writer
	name string
	n    int
	part bytes.Buffer
}

// Write implements io.Writer.
func (p *parts) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n := len(b)
	for len(b) > 0 {
		room := min(len(b), partSize-p.part.Len())
		p.part.Write(b[:room])
		if b = b[room:]; p.part.Len() == partSize {
			if err := p.end(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// end makes a member of what is left.
func (p *parts) end() error {
	if p.part.Len() == 0 {
		return nil
	}
	p.n++
	err := p.out.Add(PartName(p.name, p.n), int64(p.part.Len()), bytes.NewReader(p.part.Bytes()))
	p.part.Reset()
	return err
}

// PartName is the name of a stream's member, from 1.
func PartName(stream string, n int) string { return fmt.Sprintf("%s/%06d", stream, n) }

// add copies the files of a folder. One that goes meanwhile is left out, and one that becomes shorter
// fails.
func (f Folder) add(ctx context.Context, out *backupfile.Writer) error {
	err := filepath.WalkDir(f.Dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, err := filepath.Rel(f.Dir, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case e.IsDir() && f.Flat && name != ".":
			return fs.SkipDir
		case e.IsDir(), !e.Type().IsRegular(), file.Unfinished(path.Base(name)), f.Takes != nil && !f.Takes(name):
			return nil
		}
		return f.addFile(out, p, path.Join(f.Name, name))
	})
	if err == nil || ours(err) {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "make backup", "%w", err).WithHint("look at the hub's disk; if it is well, try again")
}

func ours(err error) bool {
	_, ok := errors.AsType[*protocol.Error](err)
	return ok
}

func (f Folder) addFile(out *backupfile.Writer, p, name string) error {
	r, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if f.Appended {
		if size, err = lines(r, size); err != nil {
			return err
		}
	}
	return out.Add(name, size, r)
}

// lines is the length of the whole lines in the first size bytes.
func lines(r io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		from := max(0, end-int64(len(buf)))
		n, err := r.ReadAt(buf[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) || int64(n) < end-from {
			return 0, errors.Join(err, io.ErrUnexpectedEOF)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// Segments takes the segments of an audit log.
func Segments(name string) bool { return strings.HasSuffix(name, ".jsonl") }
