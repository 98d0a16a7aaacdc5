package fsview

import (
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"rackboot/protocol"
)

const (
	// maxName bounds a path in bytes, maxDepth in parts. TFTP names end at 512 bytes and
	// boot URLs not much later; what is longer is nobody's boot file.
	maxName  = 1024
	maxDepth = 64
)

// checkName refuses, as invalid, a name that is no path in a file system: absolute, with
// empty, "." or ".." parts, a backslash, NUL or bytes that are not UTF-8, or longer than
// 1024 bytes or 64 parts. The root is ".". What clients make of paths (two slashes, a
// leading one, backslashes of Windows' loader) is put right where they are served, and
// nowhere else.
func checkName(name string) error {
	if why := badName(name); why != "" {
		return &fs.PathError{Op: "open", Path: shown(name), Err: protocol.Errorf(protocol.CodeInvalid, "", "%s: %w", why, fs.ErrInvalid).
			WithHint("name files by their path from the root, such as EFI/BOOT/grub.cfg")}
	}
	return nil
}

// badName says what is wrong with a name; nothing if it is clean. Of several faults it
// says one, what would disturb a log first.
func badName(name string) string {
	switch {
	case len(name) > maxName:
		return "the name is longer than 1024 bytes"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case strings.IndexByte(name, 0) >= 0:
		return "the name has a NUL byte"
	case strings.IndexByte(name, '\\') >= 0:
		return "the name has a backslash"
	case name == "":
		return "the name is empty"
	case name[0] == '/':
		return "the name is absolute"
	case name == ".":
		return ""
	}
	parts := 0
	empty := false
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "the name leads upwards"
		}
		empty = empty || part == "" || part == "."
		parts++
	}
	switch {
	case empty:
		return "the name has empty parts"
	case parts > maxDepth:
		return "the name is deeper than 64 directories"
	}
	return ""
}

// shown is a name as it may stand in an error: without bytes that disturb a log, and not
// long.
func shown(name string) string {
	if len(name) > 200 {
		name = name[:200] + "…"
	}
	if q := strconv.Quote(name); q[1:len(q)-1] != name {
		return q
	}
	return name
}

// join puts a name below a directory; "." is no part.
func join(dir, name string) string {
	switch {
	case dir == "." || dir == "":
		return name
	case name == "." || name == "":
		return dir
	}
	return dir + "/" + name
}

// below is what is left of a name inside a directory, "." for the directory itself.
func below(dir, name string) (rest string, ok bool) {
	switch {
	case dir == ".":
		return name, true
	case name == dir:
		return ".", true
	case len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir:
		return name[len(dir)+1:], true
	}
	return "", false
}
