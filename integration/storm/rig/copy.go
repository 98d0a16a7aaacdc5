package rig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// copyTree copies a folder of regular files. What is no file, as a socket, is left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return copyFile(path, at, info.Mode().Perm())
	})
}

// copyFile keeps holes: stores reserve more than they fill.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	piece, at := make([]byte, 64<<10), int64(0)
	for {
		n, err := io.ReadFull(in, piece)
		if !zero(piece[:n]) {
			if _, err := out.WriteAt(piece[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out.Truncate(at)
		}
		if err != nil {
			return err
		}
	}
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// keptSuffix is where Keep puts a copy of a data folder.
const keptSuffix = ".kept"

// Keep copies a data folder, whose process must not run.
func Keep(data string) error {
	if err := os.RemoveAll(data + keptSuffix); err != nil {
		return err
	}
	return copyTree(data, data+keptSuffix)
}

// PutBack puts the copy in the place of the folder.
func PutBack(data string) error {
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	return os.Rename(data+keptSuffix, data)
}

// Forget removes the copy.
func Forget(data string) error { return os.RemoveAll(data + keptSuffix) }

// flipTries bounds the search for a byte that is in use.
const flipTries = 10_000

// Flip changes n bytes of what a store has written: bytes that are not zero, in files of
// the folder. It returns where.
func Flip(folder string, dice *rand.Rand, n int) (where []string, err error) {
	var files []string
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for try := 0; len(where) < n && try < flipTries && len(files) > 0; try++ {
		at, err := flipOne(files[dice.IntN(len(files))], dice)
		if err != nil {
			return where, err
		}
		if at != "" {
			where = append(where, strings.TrimPrefix(at, folder+"/"))
		}
	}
	if len(where) < n {
		return where, fmt.Errorf("%s has too little that is written", folder)
	}
	return where, nil
}

// flipOne changes one byte of the file, if it meets one in use.
func flipOne(path string, dice *rand.Rand) (string, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // the write is in the page cache, where the store reads it
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return "", err
	}
	at := dice.Int64N(info.Size())
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil || b[0] == 0 {
		return "", err
	}
	b[0] ^= byte(1 + dice.IntN(255))
	_, err = f.WriteAt(b, at)
	return fmt.Sprintf("%s@%d", path, at), err
}
