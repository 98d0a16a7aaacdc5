package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// program is a file, and for what it was built of which commit.
type program struct {
	text                       []byte
	os, architecture, revision string
}

func readProgram(file string) (p program, err error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	p.revision = "unknown"
	for _, s := range info.Settings {
		switch {
		case s.Key == "GOOS":
			p.os = s.Value
		case s.Key == "GOARCH":
			p.architecture = s.Value
		case s.Key == "vcs.revision":
			p.revision = s.Value
		case s.Key == "CGO_ENABLED" && s.Value != "0":
			return p, fmt.Errorf("%s is not static: build it with CGO_ENABLED=0", file)
		}
	}
	if p.os != "linux" {
		return p, fmt.Errorf("%s is for %s", file, p.os)
	}
	p.text, err = os.ReadFile(file)
	return p, err
}

// labels are the annotations of the OCI image specification.
func (r release) labels(revision string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       r.daemon.name,
		"org.opencontainers.image.description": r.daemon.description,
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    revision,
		"org.opencontainers.image.created":     r.made.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.vendor":      "Rackboot",
	}
}

// image is the image for one architecture.
func (r release) image(p program) (v1.Image, error) {
	files, err := r.files(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: "make images", Comment: r.daemon.name}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.architecture, v1.Time{Time: r.made}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%[1]d", user),
		Entrypoint:   []string{"/usr/bin/" + r.daemon.name},
		Cmd:          []string{"run", "--config", "/etc/rackboot/" + r.daemon.file, "--log-format", "json"},
		WorkingDir:   "/",
		Env:          []string{"PATH=/usr/bin"},
		StopSignal:   "SIGTERM",
		Labels:       r.labels(p.revision),
		ExposedPorts: set(r.daemon.ports),
		Volumes:      set([]string{"/var/lib/" + r.daemon.name}),
	}
	image, err = mutate.ConfigFile(image, config)
	if err != nil {
		return nil, err
	}
	said, ok := mutate.Annotations(image, r.labels(p.revision)).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("the image takes no annotations")
	}
	return said, nil
}

func set(all []string) map[string]struct{} {
	out := map[string]struct{}{}
	for _, s := range all {
		out[s] = struct{}{}
	}
	return out
}

// files are those of the layer, as a tar.
func (r release) files(p program) ([]byte, error) {
	copyright, err := os.ReadFile(r.copyright)
	if err != nil {
		return nil, err
	}
	name := r.daemon.name
	var attributes map[string]string
	if len(r.daemon.capabilities) > 0 {
		attributes = map[string]string{"SCHILY.xattr.security.capability": fileCapabilities(r.daemon.capabilities)}
	}
	type entry struct {
		mode       int64
		owner      int
		text       []byte
		attributes map[string]string
	}
	all := map[string]entry{
		"etc/": {mode: 0o755}, "etc/rackboot/": {mode: 0o755},
		"etc/passwd": {mode: 0o644, text: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\n%s:x:%d:%[2]d:%[1]s:/var/lib/%[1]s:/sbin/nologin\n", name, user)},
		"etc/group":  {mode: 0o644, text: fmt.Appendf(nil, "root:x:0:\n%s:x:%d:\n", name, user)},
		"tmp/":       {mode: 0o1777},
		"usr/":       {mode: 0o755}, "usr/bin/": {mode: 0o755}, "usr/bin/" + name: {mode: 0o755, text: p.text, attributes: attributes},
		"usr/share/": {mode: 0o755}, "usr/share/doc/": {mode: 0o755}, "usr/share/doc/" + name + "/": {mode: 0o755},
		"usr/share/doc/" + name + "/copyright": {mode: 0o644, text: copyright},
		"var/":                                 {mode: 0o755}, "var/lib/": {mode: 0o755}, "var/lib/" + name + "/": {mode: 0o700, owner: user},
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		e := all[path]
		h := &tar.Header{
			Name: path, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.text)), ModTime: r.made,
			Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: e.attributes,
		}
		if e.text == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
