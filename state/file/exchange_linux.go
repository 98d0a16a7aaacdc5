package file

import "golang.org/x/sys/unix"

// Exchange gives each of two files or folders the other's name, in one step (renameat2(2),
// RENAME_EXCHANGE). Whoever looks sees both before or both after it. The error is that of the system:
// EINVAL where the file system cannot do it, EXDEV where they are on different ones, EBUSY of a mount
// point.
func Exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
