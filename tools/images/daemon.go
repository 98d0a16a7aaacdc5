package main

import "encoding/binary"

// user is nobody's on any host, and owns the folder of the daemon's state.
const user = 65532

// Capabilities (linux/capability.h).
const (
	netBindService = 10
	netRaw         = 13
)

// A daemon is what an image is made for.
type daemon struct {
	name, description string
	file              string // below /etc/rackboot
	ports             []string
	capabilities      []uint
}

func daemons() []daemon {
	return []daemon{
		{name: "rackboot-hub", description: "Central server of Rackboot", file: "hub.yaml", ports: []string{"8443/tcp", "8883/tcp", "9640/tcp"}},
		{
			name: "rackboot-agent", description: "Agent of Rackboot, for one rack", file: "agent.yaml",
			ports: []string{"67/udp", "69/udp", "547/udp", "4011/udp", "8080/tcp", "9641/tcp"},
			// Those of its systemd unit. A container's user has none but by its program's file.
			capabilities: []uint{netBindService, netRaw},
		},
	}
}

// fileCapabilities is the attribute security.capability of a program that gets the
// capabilities whoever starts it: struct vfs_cap_data, version 2 (linux/capability.h).
func fileCapabilities(all []uint) string {
	const version2, effective = 0x02000000, 1
	var permitted uint32
	for _, c := range all {
		permitted |= 1 << c
	}
	raw := binary.LittleEndian.AppendUint32(nil, version2|effective)
	raw = binary.LittleEndian.AppendUint32(raw, permitted)
	return string(append(raw, make([]byte, 12)...)) // not inherited; none above 31
}
