package discard

import (
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// blockDevice is a disk of the kernel.
type blockDevice struct{ *os.File }

// Open opens a disk by its name below /dev. O_EXCL of a block device refuses one that is
// mounted, or a part of a RAID (open(2)).
func Open(name string) (Device, error) {
	f, err := os.OpenFile(filepath.Join("/dev", filepath.Base(name)), os.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return blockDevice{f}, nil
}

// Discard is ioctl BLKDISCARD (linux/fs.h): an offset and a length, in bytes.
func (b blockDevice) Discard(offset, length int64) error {
	err := b.ranged(unix.BLKDISCARD, offset, length)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return errors.ErrUnsupported
	}
	return err
}

// Zero is ioctl BLKZEROOUT, which writes where the drive cannot do it by itself.
func (b blockDevice) Zero(offset, length int64) error {
	if err := b.ranged(unix.BLKZEROOUT, offset, length); err != nil {
		return err
	}
	return b.Sync()
}

func (b blockDevice) ranged(request uintptr, offset, length int64) error {
	at := [2]uint64{uint64(offset), uint64(length)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, b.Fd(), request, uintptr(unsafe.Pointer(&at))); errno != 0 {
		return errno
	}
	return nil
}
