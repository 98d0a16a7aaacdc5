package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"reflect"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// maxListed bounds the errors of an Index.
	maxListed = 1000
	// maxKept bounds in bytes what is kept in memory of an input that can be read once only; more lies in a
	// temporary file without a name.
	maxKept = 1 << 20
)

// Index is where the resources of files are. It has read each of them once, and keeps neither their text nor what
// it means: some hundred bytes for each, whatever its length. Close it after use.
type Index struct {
	files []input
	docs  []place
	named map[string]int32 // by kind and name
	seed  maphash.Seed
	in    *bufio.Reader

	open *os.File // of the file that was read last
	at   int      // which that is
}

// input is one file.
type input struct {
	name  string
	once  io.ReaderAt // what could be read once only; nil for a file
	alone bool        // it has one document
}

// place is where one resource is.
type place struct {
	span
	kind   resource.Kind
	name   string
	file   int32
	number int32
	sum    uint64 // of the text
}

// NewIndex reads files, folders and standard input as [Read] does, of any length. One document is bounded by
// [MaxDocument]. What it refuses is what [Parse] refuses: the errors are [Errors], of which it lists a thousand, and
// those of Read.
func NewIndex(paths []string, stdin io.Reader) (*Index, error) {
	x := &Index{named: map[string]int32{}, seed: maphash.MakeSeed(), in: bufio.NewReaderSize(nil, 64<<10), at: -1}
	wrong, err := x.readAll(paths, stdin)
	switch {
	case err == nil && len(wrong) > 0:
		err = wrong
	case err == nil && len(x.docs) == 0:
		err = protocol.Errorf(protocol.CodeInvalid, "read", "there is no resource in what was given")
	case err == nil:
		return x, nil
	}
	x.Close()
	return nil, err
}

func (x *Index) readAll(paths []string, stdin io.Reader) (wrong Errors, err error) {
	more := 0
	for _, p := range paths {
		names := []string{"stdin"}
		if p != "-" {
			if names, err = expand(p); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			errs, err := x.readOne(name, p == "-", stdin)
			if err != nil {
				return nil, err
			}
			room := max(0, min(len(errs), maxListed-len(wrong)))
			wrong, more = append(wrong, errs[:room]...), more+len(errs)-room
		}
	}
	if more > 0 {
		wrong = append(wrong, Error{File: "more", Message: fmt.Sprintf("%d other errors are not listed", more)})
	}
	return wrong, nil
}

// readOne reads one file.
func (x *Index) readOne(name string, std bool, stdin io.Reader) (wrong Errors, err error) {
	in, from := input{name: name}, stdin
	if !std {
		f, err := os.Open(name)
		if err != nil {
			return nil, fileError(name, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, fileError(name, err)
		}
		from, std = f, !info.Mode().IsRegular()
	}
	if std {
		if in.once, err = keep(from); err != nil {
			return nil, fileError(name, err)
		}
		from = io.NewSectionReader(in.once, 0, 1<<62)
	}
	x.files = append(x.files, in)
	file, number := len(x.files)-1, 0
	x.in.Reset(from)
	err = documents(x.in, func(s span, text []byte) error {
		d, empty, errs := s.read(name, number+1, text)
		if !empty {
			number++
		}
		wrong = append(wrong, errs...)
		if d.object == nil || len(errs) > 0 {
			return nil
		}
		h := d.object.Head()
		key := string(h.Kind) + "/" + h.Metadata.Name
		first, twice := x.named[key]
		if !twice {
			x.named[key] = int32(len(x.docs))
			x.docs = append(x.docs, place{span: s, kind: h.Kind, name: h.Metadata.Name, file: int32(file), number: int32(number), sum: maphash.Bytes(x.seed, text)})
			return nil
		}
		before, err := x.load(int(first))
		switch {
		case err != nil:
			return err
		case int(x.docs[first].file) != file && reflect.DeepEqual(before.object, d.object):
			return nil // files that need the same Param may each have it
		}
		wrong = append(wrong, d.at("metadata.name", fmt.Sprintf("%s %q is given twice, first in %s:%d", h.Kind, h.Metadata.Name, before.file, before.line("metadata.name"))))
		return nil
	})
	if code := protocol.CodeOf(err); err != nil && code != protocol.CodeConflict {
		return nil, fileError(name, err)
	} else if err != nil {
		return nil, err
	}
	if number == 1 {
		x.files[file].alone = true
		for i := range wrong {
			wrong[i].Document = 0
		}
	}
	slices.SortStableFunc(wrong, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
	return wrong, nil
}

// keep keeps what can be read once only.
func keep(r io.Reader) (io.ReaderAt, error) {
	var head bytes.Buffer
	if n, err := io.Copy(&head, io.LimitReader(r, maxKept)); err != nil || n < maxKept {
		return bytes.NewReader(head.Bytes()), err
	}
	f, err := os.CreateTemp("", "rackctl-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil { // it may have secrets, and ends with this process
		f.Close()
		return nil, err
	}
	if _, err := io.Copy(f, io.MultiReader(&head, r)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Len is how many resources there are.
func (x *Index) Len() int { return len(x.docs) }

// Bytes is how long the documents of the resources are together.
func (x *Index) Bytes() (n int64) {
	for _, d := range x.docs {
		n += int64(d.length)
	}
	return n
}

// Kind is the kind of a resource by its index.
func (x *Index) Kind(i int) resource.Kind { return x.docs[i].kind }

// Name is the name of a resource by its index.
func (x *Index) Name(i int) string { return x.docs[i].name }

// Find is the index of a resource.
func (x *Index) Find(kind resource.Kind, name string) (int, bool) {
	i, ok := x.named[string(kind)+"/"+name]
	return int(i), ok
}

// Set reads some of the resources again. The code is conflict where a file is not what it was.
func (x *Index) Set(list []int) (*Set, error) {
	set := &Set{docs: make([]document, len(list))}
	for n, i := range list {
		d, err := x.load(i)
		if err != nil {
			return nil, err
		}
		set.docs[n] = *d
	}
	return set, nil
}

// At is an Error at a path of a resource; if the path was not written, at what of it was.
func (x *Index) At(i int, path, message string) Error {
	d, err := x.load(i)
	if err != nil {
		return Error{File: x.files[x.docs[i].file].name, Path: path, Message: message}
	}
	return d.at(path, message)
}

// load reads a resource again.
func (x *Index) load(i int) (*document, error) {
	p := x.docs[i]
	in := x.files[p.file]
	from := in.once
	if from == nil {
		if x.at != int(p.file) {
			f, err := os.Open(in.name)
			if err != nil {
				return nil, fileError(in.name, err)
			}
			if x.open != nil {
				x.open.Close()
			}
			x.open, x.at = f, int(p.file)
		}
		from = x.open
	}
	text := make([]byte, p.length)
	if n, err := from.ReadAt(text, p.offset); n < p.length || maphash.Bytes(x.seed, text) != p.sum {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fileError(in.name, err)
		}
		return nil, protocol.Errorf(protocol.CodeConflict, "read", "%s has changed since it was read", in.name).
			WithHint("run the command again when nobody writes it")
	}
	number := int(p.number)
	if in.alone {
		number = 0
	}
	d, _, wrong := p.read(in.name, number, text)
	if len(wrong) > 0 {
		return nil, wrong
	}
	return d, nil
}

// Close closes what is open.
func (x *Index) Close() {
	if x.open != nil {
		x.open.Close()
		x.open, x.at = nil, -1
	}
	for _, in := range x.files {
		if c, is := in.once.(io.Closer); is {
			c.Close()
		}
	}
}
