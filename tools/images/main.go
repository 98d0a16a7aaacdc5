// Command images writes the container images of hub and agent, each as an archive of an OCI
// image layout with an index of all architectures, without a container runtime.
//
//	SOURCE_DATE_EPOCH=… go run ./images -version 0.1.0 -copyright ../bin/copyright -out ../dist ../bin/amd64 ../bin/arm64
//
// An image has a static program, the licences of what it contains, and nothing else: no
// shell, no package manager, no CAs. It runs as a user without rights. The same programs
// make the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	if err := run(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(args []string, epoch string) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	version := flags.String("version", "dev", "version of the images")
	copyright := flags.String("copyright", "", "`file` with the licences")
	out := flags.String("out", "", "`folder` for the archives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || *copyright == "" || flags.NArg() == 0 {
		return fmt.Errorf("-out, -copyright and the folders with the programs are needed")
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	if err := os.MkdirAll(*out, 0o755); err != nil { // #nosec G301 -- everybody may read it
		return err
	}
	for _, d := range daemons() {
		r := release{daemon: d, version: *version, copyright: *copyright, made: time.Unix(seconds, 0).UTC()}
		if err := r.write(filepath.Join(*out, fmt.Sprintf("%s-%s.oci.tar", d.name, *version)), flags.Args()); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// release is a version of an image.
type release struct {
	daemon    daemon
	version   string
	copyright string // file
	made      time.Time
}

// write writes the archive, with an image for the programs of each folder.
func (r release) write(file string, folders []string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var revision string
	for _, folder := range folders {
		p, err := readProgram(filepath.Join(folder, r.daemon.name))
		if err != nil {
			return err
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		revision = p.revision
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.architecture}}})
	}
	said, ok := mutate.Annotations(index, r.labels(revision)).(v1.ImageIndex)
	if !ok {
		return fmt.Errorf("the index takes no annotations")
	}
	dir, err := os.MkdirTemp("", "rackboot-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	// By which name engines load it: podman reads the first, containerd and docker the second.
	names := map[string]string{
		"org.opencontainers.image.ref.name": r.daemon.name + ":" + r.version,
		"io.containerd.image.name":          "localhost/" + r.daemon.name + ":" + r.version,
	}
	if err := l.AppendIndex(said, layout.WithAnnotations(names)); err != nil {
		return err
	}
	return r.archive(file, dir)
}
