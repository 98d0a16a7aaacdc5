package netboot

import "net/netip"

// UserData opens the user data of servers. It is not among [Files], so that a server of a
// protocol that sends in clear to whoever asks, as TFTP, cannot give it by mistake.
type UserData interface {
	// OpenUserData opens that of an attempt for a client at remote, by HTTP. It is on
	// disk that it is given before it returns. The error is not_found for everything that
	// must not be given, whatever the reason.
	OpenUserData(remote netip.Addr, token string) (*File, error)
	// Delivered takes that the last byte of it was sent. It is on disk when it returns.
	Delivered(token string)
}
