package dhcp6

import (
	"crypto/sha256"
	"encoding/binary"
)

// DUID makes a server's DUID of a name that does not change, such as the agent's and
// the segment's: a DUID-UUID (RFC 6355) with a name-based UUID (RFC 9562 section
// 5.8). Clients renew at the DUID that they know, so that another one costs each of
// them its wait for T2.
func DUID(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return append(binary.BigEndian.AppendUint16(nil, duidUUID), u...)
}
