package loaders

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rackboot/netboot/chain"
	"rackboot/protocol"
)

// found are the loaders of one look, in a fixed order.
type found []file

// file is a loader with its content.
type file struct {
	chain.Loader
	cpu     string
	role    chain.Role
	content []byte
}

// set is what was found, without content.
func (f found) set() chain.Set {
	out := chain.Set{}
	for _, l := range f {
		if out[l.cpu] == nil {
			out[l.cpu] = chain.Loaders{}
		}
		out[l.cpu][l.role] = l.Loader
	}
	return out
}

// scan reads the loaders of all folders. A folder that is not there is an error, as is
// a file that is no loader: what is wrong must not look like what is not installed.
func scan(folders map[string][]string) (found, error) {
	var out found
	for _, cpu := range slices.Sorted(maps.Keys(folders)) {
		for _, folder := range folders[cpu] {
			if _, err := os.ReadDir(folder); err != nil {
				return nil, protocol.Errorf(protocol.CodeNotFound, "read boot loaders", "%w", err).
					WithHint("install the package that has the folder, or take it out of loaders in the agent's file")
			}
		}
		for _, role := range chain.Roles() {
			f, ok, err := first(cpu, role, folders[cpu])
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// stamp is what a look at names, sizes and times tells: while it is the same, so are the
// files.
func stamp(folders map[string][]string) string {
	var b strings.Builder
	for _, cpu := range slices.Sorted(maps.Keys(folders)) {
		for _, folder := range folders[cpu] {
			for _, role := range chain.Roles() {
				for _, name := range chain.Candidates(cpu, role) {
					info, err := os.Stat(filepath.Join(folder, name))
					if err != nil {
						fmt.Fprintf(&b, "%s/%s %t\n", folder, name, errors.Is(err, fs.ErrNotExist))
						continue
					}
					fmt.Fprintf(&b, "%s/%s %d %d\n", folder, name, info.Size(), info.ModTime().UnixNano())
				}
			}
		}
	}
	return b.String()
}

// first reads the first file of a role.
func first(cpu string, role chain.Role, folders []string) (f file, ok bool, err error) {
	for _, folder := range folders {
		for _, name := range chain.Candidates(cpu, role) {
			path := filepath.Join(folder, name)
			content, err := read(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return f, false, protocol.Errorf(protocol.CodeInvalid, "read boot loader", "%w", err).
					WithHint("see that the agent's user can read %s", path)
			}
			l, err := chain.Inspect(cpu, role, content)
			if err != nil {
				return f, false, protocol.Errorf(protocol.CodeInvalid, "read boot loader", "%s: %w", path, err)
			}
			sum := sha256.Sum256(content)
			l.Digest, l.Size, l.Path = "sha256:"+hex.EncodeToString(sum[:]), int64(len(content)), path
			return file{Loader: l, cpu: cpu, role: role, content: content}, true, nil
		}
	}
	return f, false, nil
}

// read reads a file that is not too large for a loader.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, chain.MaxLoader+1))
	if err == nil && len(content) > chain.MaxLoader {
		err = protocol.Errorf(protocol.CodeInvalid, "read boot loader", "%s has more than %d bytes", path, chain.MaxLoader).
			WithHint("a loader is smaller; is this a disk image?")
	}
	return content, err
}
