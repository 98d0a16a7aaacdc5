package host

import (
	"path"
	"strings"

	"rackboot/protocol"
)

const classNet = "sys/class/net"

// interfaces reads the network interfaces that have a device: no bridges, bonds or
// VLANs.
func (t tree) interfaces() (out []protocol.HostInterface) {
	permanent := t.bonded()
	for _, name := range t.names(classNet) {
		at := path.Join(classNet, name)
		mac := protocol.InterfaceMAC(t.line(at + "/address"))
		if mac == "" || !t.there(at+"/device") || !protocol.HostText(name) {
			continue
		}
		n := protocol.HostInterface{
			Name: name, MAC: mac, Link: t.line(at+"/carrier") == "1", Driver: t.driver(at + "/device"), PCI: pciOf(t.link(at)),
		}
		if p := permanent[name]; p != mac {
			n.PermanentMAC = p
		}
		if speed := t.number(at + "/speed"); n.Link && speed > 0 && speed <= protocol.MaxHostMbps { // -1 and 2^32-1 are not known
			n.SpeedMbps = speed
		}
		if out = append(out, n); len(out) == protocol.MaxHostInterfaces {
			break
		}
	}
	return out
}

// bonded are the permanent MAC addresses of interfaces in bonds, which have the
// bond's: /sys does not tell them.
func (t tree) bonded() map[string]string {
	out := map[string]string{}
	for _, bond := range t.names("proc/net/bonding") {
		name := ""
		for line := range strings.SplitSeq(t.text("proc/net/bonding/"+bond), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "Slave Interface":
				name = value
			case "Permanent HW addr":
				out[name] = protocol.InterfaceMAC(value)
			}
		}
	}
	return out
}
