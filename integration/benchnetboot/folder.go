package main

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"

	"rackboot/netboot"
	"rackboot/protocol"
)

// folder serves its files to everybody: the boot file as the agent does one that it keeps, by
// opening it, and the small one as it does those of a package repository, which lie in an
// image that stays open.
type folder struct {
	dir   string
	small *os.File // nil where there is none
}

func openFolder(dir string) (folder, error) {
	small, err := os.Open(filepath.Join(dir, smallName))
	if errors.Is(err, os.ErrNotExist) {
		return folder{dir: dir}, nil
	}
	return folder{dir, small}, err
}

// part is a file in an image.
type part struct {
	*io.SectionReader
	of *os.File
}

// Section implements netboot.Section.
func (p part) Section() (f *os.File, offset, size int64, ok bool) { return p.of, 0, p.Size(), true }

// Close leaves the image open.
func (part) Close() error { return nil }

func (f folder) Open(_ netip.Addr, _, name string) (*netboot.File, error) {
	if name == smallName && f.small != nil {
		return &netboot.File{ReadSeekCloser: part{io.NewSectionReader(f.small, 0, smallSize), f.small}, Size: smallSize, ETag: `"small"`}, nil
	}
	file, err := os.Open(filepath.Join(f.dir, filepath.Base(name)))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file: %w", err)
	}
	st, err := file.Stat()
	if err != nil {
		_ = file.Close() // it was only read
		return nil, protocol.Errorf(protocol.CodeInternal, "open", "%w", err)
	}
	return &netboot.File{ReadSeekCloser: file, Size: st.Size(), ETag: `"bench"`}, nil
}

func (f folder) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	return f.Open(remote, "", name)
}

func (folder) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error { return nil }
