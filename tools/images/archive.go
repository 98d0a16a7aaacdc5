package main

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// archive writes a layout as a tar. The files come in the order of their names.
func (r release) archive(file, dir string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name) + "/", Mode: 0o755, ModTime: r.made, Typeflag: tar.TypeDir, Format: tar.FormatUSTAR})
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: info.Size(), ModTime: r.made, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}
