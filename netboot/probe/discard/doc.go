// Package discard makes the disks of a server unreadable before the server leaves: it is
// what the boot environment decommission runs, as init of an initramfs.
//
//	Permitted ─► Find ─► All, each disk: discard or zero ─► zero both ends ─► read back
//
// It is no sanitization after NIST SP 800-88: what a drive keeps in spare areas stays, and
// areas that it hides from the kernel (HPA, DCO, namespaces that are not attached) are not
// seen.
package discard
