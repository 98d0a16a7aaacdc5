package fsview

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Mount is a file system at a place of a View, or links; one of the two.
type Mount struct {
	// At is the directory that the root of FS is shown as, and that the paths of Links are
	// below; "" or "." is the root of the view. It need not exist anywhere else.
	At string
	FS fs.FS
	// Links lie over the mounts before this one and under those after it: what is rendered
	// into a linked tree is mounted later.
	Links Links
	// Origin says to people where the files come from: ISO debian-12.iso.
	Origin string
	// Close is called once, when the view and all that was opened in it are closed. It may
	// be nil. Nothing is written to a mount, so nobody waits for its error. An archive
	// that several views have is made a view of its own first: each mount of it is acquired
	// before, and released by Close.
	Close func() error
	// fold finds names in any case: firmware asks for EFI/BOOT/bootx64.efi where an image
	// has efi/boot/BOOTX64.EFI. A part of a path that is there as it is written wins, else
	// the first in byte order that is equal without case.
	Fold bool
	// Remote says that FS asks other machines: New does not look into it, and lists are
	// complete without it.
	Remote bool
}

// Links show a path, file or directory, at other paths, below the mount's At. What they
// lead to is a path from the view's root, through all its mounts, and through other links.
type Links map[string]string

// layer is a mount, or one of the links of one, as the view goes through them.
type layer struct {
	at     string // clean; "." is the root
	fsys   fs.FS  // nil for a link
	target string // of a link
	origin string
	remote bool
}

// layers takes a mount apart. Of its links, one inside another lies over that.
func (m Mount) layers() ([]layer, error) {
	const op = "build view"
	at := m.At
	if at == "" {
		at = "."
	}
	switch {
	case (m.FS == nil) == (m.Links == nil):
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "mount %s has not exactly one of file system and links", m.Origin)
	case badName(at) != "":
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "mount %s at %s: %s", m.Origin, shown(at), badName(at))
	case m.FS != nil && m.Fold:
		return []layer{{at: at, fsys: fold(m.FS), origin: m.Origin, remote: m.Remote}}, nil
	case m.FS != nil:
		return []layer{{at: at, fsys: m.FS, origin: m.Origin, remote: m.Remote}}, nil
	}
	var all []layer
	for _, name := range slices.Sorted(maps.Keys(m.Links)) { // a before a/b
		target := m.Links[name]
		why := badName(name)
		if why == "" && name == "." {
			why = "the root cannot be a link"
		}
		if why == "" && badName(target) != "" {
			why = "its target " + shown(target) + ": " + badName(target)
		}
		if why == "" {
			why = badName(join(at, name))
		}
		if why != "" {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "link %s of %s: %s", shown(name), m.Origin, why).
				WithHint("write links and their targets as paths from the root, such as machines/UUID/boot")
		}
		all = append(all, layer{at: join(at, name), target: target, origin: m.Origin})
	}
	slices.SortStableFunc(all, func(a, b layer) int { return strings.Count(a.at, "/") - strings.Count(b.at, "/") })
	return all, nil
}

func (l *layer) isLink() bool { return l.fsys == nil }
