package netboot

import "net/netip"

// AddressFiles opens what a boot client asks for by a fixed name, as by TFTP: it
// gives no token, and is known by the address that it leases.
type AddressFiles interface {
	// OpenFor opens the file that the machine with this address may fetch by this
	// name now. The name is clean: no leading slash, no empty, "." or ".." part, no
	// backslash. It returns a not_found error for an address or a name that it does
	// not know, and denied for a server that may not boot now. Both are decided
	// without reading a disk: a loader tries a dozen names that do not exist.
	OpenFor(remote netip.Addr, name string) (*File, error)
}
