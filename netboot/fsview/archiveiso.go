package fsview

import (
	"bytes"
	"io"
	"io/fs"

	"rackboot/netboot/iso"
)

// isISO knows an ISO image by its first volume descriptor (ECMA-119 8.1).
func isISO(head []byte) bool {
	const at = 16 * 2048
	return len(head) >= at+6 && bytes.Equal(head[at+1:at+6], []byte("CD001"))
}

// openISO reads an ISO image in place.
func openISO(_ Archiver, r io.ReaderAt, size int64, _ string) (fs.FS, error) {
	return iso.OpenFS(r, size)
}
