package fsview

import (
	"path"
	"strings"

	"rackboot/protocol"
)

// entryName is the name of an archive's entry as a path: without "./" before and "/"
// behind it, and without empty parts. Absolute names and those that lead upwards are
// refused, and with them the archive: what else is in it would be a guess.
func entryName(what, name string) (string, error) {
	clean := path.Clean(strings.TrimSuffix(name, "/"))
	why := badName(clean)
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			why = "the name leads upwards"
		}
	}
	if name == "" {
		why = "the name is empty"
	}
	if why != "" {
		return "", protocol.Errorf(protocol.CodeInvalid, "read "+what, "entry %s: %s", shown(name), why).
			WithHint("make it anew, with names in UTF-8 that are relative to one folder (tar -C FOLDER .)")
	}
	return clean, nil
}

// maxTarget bounds the target of a symbolic link, in bytes.
const maxTarget = 4096

// linkTarget checks the target of a symbolic link; where it leads is seen when somebody
// goes there.
func linkTarget(what, name, target string) error {
	if target != "" && len(target) <= maxTarget && strings.IndexByte(target, 0) < 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalid, "read "+what, "the symbolic link %s has no target that could be", shown(name)).
		WithHint("make it anew")
}
