package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/fsview"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// complete reads all that the environment names to its end, and gives the digest of all that
// is served: a list of files is no proof that they are there (P7). sample was rendered for a
// boot that nobody does.
func (e *envs) complete(ctx context.Context, b *Environment, root bootenv.Root, sample bootenv.Tree) (string, error) {
	generation, err := b.recipe.Generation(root, sample)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, generation)
	for _, n := range b.needs(root, sample) {
		digest, err := e.read.whole(ctx, b.view, root, n)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			return "", named(fmt.Sprintf("there is no %s in what boot environment %s comes from (%s)", n.Path, b.intent.Name, b.source), err)
		case err != nil:
			return "", named(fmt.Sprintf("the %s %s of boot environment %s", n.Part, n.Path, b.intent.Name), err)
		}
		fmt.Fprintf(sum, "%q %s\n", n.Path, digest)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// needs are the files that must be there. Of a package repository these are the ones that
// the boot begins with, which were fetched whole; the rest is read through.
func (b *Environment) needs(root bootenv.Root, sample bootenv.Tree) (out []bootenv.Need) {
	starts := b.boot.Files()
	for _, n := range b.recipe.Needs(root, sample) {
		if root.Source != resource.EnvFromProxy || slices.Contains(starts, n.Path) {
			out = append(out, n)
		}
	}
	for _, p := range starts {
		if !sample.Has(p) && !slices.ContainsFunc(out, func(n bootenv.Need) bool { return n.Path == p }) {
			out = append(out, bootenv.Need{Part: bootenv.PartLoader, Path: p, Arch: b.recipe.Arch})
		}
	}
	return out
}

// rootDigest is that of the content that an environment's root is; empty where it has none.
func rootDigest(root bootenv.Root) string {
	if root.Source == resource.EnvFromImage {
		return root.Image.Digest
	}
	return root.ISO.Digest
}

// maxRead bounds the files of which it is kept what was read.
const maxRead = 4096

// readFiles keeps what was read of files in contents that do not change, so that a rack
// whose servers boot the same environment reads it once. It is safe for concurrent use.
type readFiles struct {
	mu   sync.Mutex
	seen map[readFile]string // the digest
}

// readFile is a file as it was read. Time and size tell one in a folder beside the content,
// where people change files.
type readFile struct {
	root, path, arch string
	part             bootenv.Part
	size             int64
	at               time.Time
}

// whole reads a file to its end, and judges whether it is what it is to be; the result is its
// digest. A folder that something links to is what it is.
func (r *readFiles) whole(ctx context.Context, view fs.FS, root bootenv.Root, n bootenv.Need) (string, error) {
	info, err := fs.Stat(view, n.Path)
	if err == nil && info.IsDir() && n.Part == bootenv.PartLink {
		return "folder", nil
	}
	k := readFile{root: rootDigest(root), path: strings.TrimPrefix(n.Path, root.At+"/"), arch: n.Arch, part: n.Part}
	if err == nil {
		k.size, k.at = info.Size(), info.ModTime()
		r.mu.Lock()
		have, ok := r.seen[k]
		r.mu.Unlock()
		if ok && k.root != "" {
			return have, nil
		}
	}
	w, err := fsview.ReadWhole(ctx, view, n.Path) // which names a link that leads nowhere
	if err != nil {
		return "", err
	}
	check := image.CheckFile(w.Head)
	if n.Part.Program() {
		check = image.CheckProgram(w.Head, w.Size, n.Arch)
	}
	if check != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, "read boot file", "it %w", check).WithHint("name the file that %s boots from, or upload the medium of that architecture", n.Arch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxRead {
		r.seen = map[readFile]string{}
	}
	r.seen[k] = w.Digest
	return w.Digest, nil
}
