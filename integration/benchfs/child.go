package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"rackboot/netboot"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/iso"
	"rackboot/protocol"
)

// childVar is set for a process that is the server or the client: what it does, as JSON.
const childVar = "RACKBOOT_BENCH_FS"

// What a child does.
const (
	serveImage = "serve-image"
	serveTree  = "serve-tree"
	fetchFiles = "fetch"
)

// job is what a child does. Dir has its files.
type job struct {
	What    string
	Dir     string
	Address string
	// Names are fetched in turn by so many connections, until there were so many requests.
	Names    []string
	Conns    int
	Requests int
	// Check compares what comes.
	Check bool
}

func child(what string) error {
	var j job
	if err := json.Unmarshal([]byte(what), &j); err != nil {
		return err
	}
	switch j.What {
	case fetchFiles:
		return j.fetch()
	case serveImage, serveTree:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		return j.serve(ctx)
	}
	return fmt.Errorf("no child %q", j.What)
}

// self is this program as a child.
func self(j job) (*exec.Cmd, error) {
	raw, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path) //nolint:noctx // it is ended by whoever starts it
	cmd.Env = append(os.Environ(), childVar+"="+string(raw))
	return cmd, nil
}

// serve serves the files of the image, in place, or the extracted ones.
func (j job) serve(ctx context.Context) error {
	tree := os.DirFS(filepath.Join(j.Dir, treeName))
	if j.What == serveImage {
		image, err := os.Open(filepath.Join(j.Dir, imageName))
		if err != nil {
			return err
		}
		defer image.Close()
		about, err := image.Stat()
		if err != nil {
			return err
		}
		if tree, err = iso.OpenFS(image, about.Size()); err != nil {
			return err
		}
	}
	s, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort(j.Address), Files: treeFiles{tree}, Evidence: nobody{}})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// treeFiles serves the files of a tree to everybody.
type treeFiles struct {
	tree fs.FS
}

// Open opens a file.
func (t treeFiles) Open(_ netip.Addr, _, name string) (*netboot.File, error) {
	f, err := t.tree.Open(name)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file: %w", err)
	}
	about, err := f.Stat()
	content, ok := f.(io.ReadSeekCloser)
	if err != nil || !ok {
		_ = f.Close() // it was only opened
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "it is no file: %w", err)
	}
	return &netboot.File{ReadSeekCloser: content, Size: about.Size(), ETag: `"bench"`, ModTime: about.ModTime()}, nil
}

// Report refuses nothing.
func (treeFiles) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error { return nil }

// nobody takes evidence.
type nobody struct{}

// Record forgets.
func (nobody) Record(netboot.Event) {}
