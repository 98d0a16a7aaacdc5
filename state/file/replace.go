package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/state"
)

// The steps of a replacement at which a Writer may crash.
const (
	stepBegun   = "begun"   // there is a file beside it, empty
	stepWritten = "written" // its content is on disk
	stepRenamed = "renamed" // it has the name, perhaps not on disk
)

// Writer replaces files. The zero value is ready for use, and safe for concurrent use.
type Writer struct {
	Crash state.Crasher // asked at each step
	Point string        // the crash points are Point, a dot and the step

	disk disk // nil is that of the system
}

// Replace makes data the content of the file at path, with that mode whatever the umask. When
// it returns nil the file is on disk. After an error the file is the one before or, if only the
// last fsync failed, the new one; nothing is left beside it. A link at path is replaced, not
// followed. Of several at once on one path, one that succeeds is what stays. Errors: unavailable.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return Writer{}.Replace(path, data, mode)
}

// Replace is as the function, with the crash points of the Writer.
func (w Writer) Replace(path string, data []byte, mode fs.FileMode) error {
	d := w.disk
	if d == nil {
		d = system{}
	}
	if err := w.replace(d, path, data, mode); err != nil {
		return failed(path, err)
	}
	return nil
}

func (w Writer) replace(d disk, path string, data []byte, mode fs.FileMode) error {
	folder := filepath.Dir(path)
	temp, err := d.create(folder, tempPrefix+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	w.at(stepBegun)
	if err := fill(temp, data, mode); err != nil {
		_ = d.remove(temp.Name()) // the first error says more
		return err
	}
	w.at(stepWritten)
	if err := d.rename(temp.Name(), path); err != nil {
		_ = d.remove(temp.Name()) // likewise
		return err
	}
	w.at(stepRenamed)
	return d.syncFolder(folder)
}

func (w Writer) at(step string) { w.Crash.At(w.Point + "." + step) }

// fill puts the content on disk. The mode comes first: what is secret is never open to others.
func fill(temp handle, data []byte, mode fs.FileMode) error {
	err := temp.Chmod(mode)
	if err == nil {
		_, err = temp.Write(data)
	}
	if err == nil {
		err = temp.Sync()
	}
	return errors.Join(err, temp.Close())
}

func failed(path string, err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, "replace "+path, "%w", err).
		WithHint("look at the space on its disk, and whether its folder may be written to; the file is still whole")
}

// disk is what a replacement asks of the system; tests let each step of it fail.
type disk interface {
	// create makes a file with mode 0600; the star of the pattern stands for digits.
	create(folder, pattern string) (handle, error)
	rename(from, to string) error
	remove(path string) error
	syncFolder(path string) error
}

// handle is an open file.
type handle interface {
	Name() string
	Chmod(mode fs.FileMode) error
	Write(data []byte) (int, error)
	Sync() error
	Close() error
}

type system struct{}

func (system) create(folder, pattern string) (handle, error) { return os.CreateTemp(folder, pattern) }
func (system) rename(from, to string) error                  { return os.Rename(from, to) }
func (system) remove(path string) error                      { return os.Remove(path) }

func (system) syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
