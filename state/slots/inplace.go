package slots

import "syscall"

// The types of file systems that write elsewhere and then point there (statfs(2), linux/magic.h;
// for ZFS and bcachefs their own sources). Overlays write where their upper layer does, and tell of
// themselves only.
const (
	btrfs    = 0x9123683e
	zfs      = 0x2fc12fc1
	bcachefs = 0xca451a4e
	f2fs     = 0xf2f52010
	nilfs    = 0x3434
	ubifs    = 0x24051905
)

// writesInPlace reports whether what was written once can be written again without free space.
// Of a file system that it cannot ask it says no.
func writesInPlace(dir string) bool {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return false
	}
	switch uint32(st.Type) { //nolint:gosec // magic numbers have 32 bits
	case btrfs, zfs, bcachefs, f2fs, nilfs, ubifs:
		return false
	default:
		return true
	}
}
