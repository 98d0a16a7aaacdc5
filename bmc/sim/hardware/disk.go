package hardware

import "sync"

// Disk is a virtual disk, of which only the digest of the installed system
// matters. The zero value is an empty disk. It outlives power cycles.
type Disk struct {
	mu     sync.Mutex
	digest string
}

// Install writes a system; an empty digest wipes the disk.
func (d *Disk) Install(digest string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.digest = digest
}

// Digest is what is installed; empty for nothing.
func (d *Disk) Digest() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.digest
}
