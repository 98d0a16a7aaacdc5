package initramfs

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"rackboot/protocol"
)

// Module is one kernel module.
type Module struct {
	Name string // with underscores
	Path string // of the .ko file
}

// Modules finds kernel modules below a folder, and all that they depend on, in the
// order in which they must be loaded. A module that is not there is an error: a
// kernel that has it built in needs another list.
func Modules(dir string, names ...string) ([]Module, error) { return find(dir, false, names) }

// find is Modules; optional passes over names that are not there.
func find(dir string, optional bool, names []string) ([]Module, error) {
	const op = "find kernel modules"
	files, packed := map[string]string{}, map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok {
			files[strings.ReplaceAll(name, "-", "_")] = path
		}
		for _, ending := range []string{".ko.xz", ".ko.zst", ".ko.gz"} {
			if name, ok := strings.CutSuffix(filepath.Base(path), ending); ok {
				packed[strings.ReplaceAll(name, "-", "_")] = path
			}
		}
		return err
	})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	var out []Module
	done := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		path, ok := files[name]
		if !ok {
			if p := packed[name]; p != "" {
				return protocol.Errorf(protocol.CodeUnsupported, op, "%s is compressed", p).WithHint("unpack the modules first, as with: unxz or zstd -d --rm")
			}
			return protocol.Errorf(protocol.CodeNotFound, op, "no module %s below %s", name, dir).WithHint("give the folder lib/modules/RELEASE of the kernel; what the kernel has built in needs no module")
		}
		needs, err := depends(path)
		if err != nil {
			return protocol.Errorf(protocol.CodeInvalid, op, "module %s: %w", path, err)
		}
		for _, n := range needs {
			if err := add(n); err != nil {
				return err
			}
		}
		out = append(out, Module{name, path})
		return nil
	}
	for _, name := range names {
		if optional && files[name] == "" && packed[name] == "" {
			continue
		}
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// depends reads the dependencies out of the module itself: a package that was only
// unpacked has no modules.dep.
func depends(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("no .modinfo")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	var out []string
	for field := range strings.SplitSeq(string(info), "\x00") {
		if list, ok := strings.CutPrefix(field, "depends="); ok && list != "" {
			out = append(out, strings.Split(list, ",")...)
		}
	}
	return out, nil
}
