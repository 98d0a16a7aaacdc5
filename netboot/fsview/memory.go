package fsview

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// Memory is files in memory, by path: what was rendered.
type Memory map[string][]byte

// FS is the files as a file system, all of that time; that of the resource that they are
// made of keeps HTTP's If-Modified-Since right across restarts. The contents are not
// copied and must not be changed any more. A name that CheckName refuses, and one that is
// both file and directory, are invalid errors.
func (m Memory) FS(modTime time.Time) (fs.FS, error) {
	t := newTree("rendered files", modTime)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		err := checkName(name)
		if err == nil && name == "." {
			err = t.clash(name, name)
		}
		if err != nil {
			return nil, err
		}
		text := m[name]
		if _, err := t.add(name, &node{info: info{mode: modeFile, size: int64(len(text)), modTime: modTime}, source: held(text)}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// held is content in memory.
type held []byte

func (h held) open() (io.ReaderAt, func() error, error) { return bytes.NewReader(h), nil, nil }
