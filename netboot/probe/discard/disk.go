package discard

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// sector is the unit of /sys/block/*/size, in bytes, whatever the disk's own is.
const sector = 512

// Disk is a block device of the kernel.
type Disk struct {
	Name  string // below /dev
	Bytes int64
	// Skip says why it is left alone; empty is that it is discarded.
	Skip string
	// Fail says why it cannot be discarded, and so why the whole has failed.
	Fail string
}

// diskRule says what becomes of a block device. The first row that fits decides. kind is
// none of a device that no hardware is behind (loop, RAID, mapper, memory), drive of CDs
// and floppies, area of a boot area of an eMMC; hidden is one of several paths to an NVMe
// namespace.
//
//	kind  | hidden | medium | removable | locked | answer
//	none  | *      | *      | *         | *      | ignored
//	drive | *      | *      | *         | *      | ignored
//	area  | *      | *      | *         | *      | skipped: a boot area
//	disk  | yes    | *      | *         | *      | ignored
//	disk  | no     | no     | *         | *      | ignored
//	disk  | no     | yes    | yes       | *      | skipped: removable
//	disk  | no     | yes    | no        | yes    | failed: write-protected
//	disk  | no     | yes    | no        | no     | discarded
func diskRule(kind string, hidden, medium, removable, locked bool) string {
	switch {
	case kind == kindNone, kind == kindDrive:
		return "ignored"
	case kind == kindArea:
		return "skipped: a boot area"
	case hidden, !medium:
		return "ignored"
	case removable:
		return "skipped: removable"
	case locked:
		return "failed: write-protected"
	}
	return "discarded"
}

// The kinds of block devices.
const (
	kindNone  = "none"
	kindDrive = "drive"
	kindArea  = "area"
	kindDisk  = "disk"
)

// Find lists the disks of the machine whose root file system is root, in the order of their
// names. Every block device with hardware behind it is one, hidden ones, CDs and floppies
// apart.
func Find(root fs.FS) (out []Disk, err error) {
	entries, err := fs.ReadDir(root, "sys/block")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		at := path.Join("sys/block", e.Name())
		is := func(file string) bool { return line(root, at+"/"+file) == "1" }
		sectors, err := strconv.ParseInt(line(root, at+"/size"), 10, 54)
		d := Disk{Name: e.Name(), Bytes: sectors * sector}
		answer := diskRule(kindOf(root, at), is("hidden"), err == nil && sectors > 0, is("removable"), is("ro"))
		if why, ok := strings.CutPrefix(answer, "skipped: "); ok {
			d.Skip = why
		}
		if why, ok := strings.CutPrefix(answer, "failed: "); ok {
			d.Fail = why
		}
		if answer != "ignored" {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Disk) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// kindOf is the kind of a device by its folder below /sys/block.
func kindOf(root fs.FS, at string) string {
	name := path.Base(at)
	if _, err := fs.Stat(root, at+"/device"); err != nil {
		return kindNone
	}
	switch {
	case strings.HasPrefix(name, "sr"), strings.HasPrefix(name, "fd"):
		return kindDrive
	case strings.HasPrefix(name, "mmcblk") && (strings.Contains(name, "boot") || strings.Contains(name, "rpmb")):
		return kindArea
	}
	return kindDisk
}

func line(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
