package redfish

import (
	"slices"
	"strings"

	"rackboot/protocol"
)

// nics collects interfaces by MAC address, in the order in which they were
// found.
type nics struct {
	list []protocol.Interface
	own  []string // MACs of the BMC itself
	ends []string // MACs of the host's ends of networks to the BMC
}

// byUSB is why an interface that hangs on USB is no way to the network.
const byUSB = "it leads to the BMC (a USB device)"

// Where a MAC address was found.
const (
	fromInterfaces = "EthernetInterfaces"
	fromFunctions  = "NetworkDeviceFunctions"
	fromOptions    = "BootOptions"
)

func (n *nics) add(mac, name, source, internal string) {
	mac = macOf(mac)
	if mac == "" {
		return
	}
	switch {
	case internal != "":
	case slices.Contains(n.own, mac):
		internal = "it is an address of the BMC"
	case slices.Contains(n.ends, mac):
		internal = "it leads to the BMC (a host interface)"
	case strings.HasPrefix(mac, tmfifoPrefix):
		internal = "it leads to a DPU (tmfifo), and every card has it"
	}
	i := slices.IndexFunc(n.list, func(x protocol.Interface) bool { return x.MAC == mac })
	if i < 0 {
		n.list = append(n.list, protocol.Interface{MAC: mac, Name: name, Sources: []string{source}, Internal: internal})
		return
	}
	have := &n.list[i]
	if !slices.Contains(have.Sources, source) {
		have.Sources = append(have.Sources, source)
	}
	if have.Internal == "" {
		have.Internal = internal
	}
}

// internalNIC says why an EthernetInterface is no way to the network: it is the
// host's end of the USB network to its BMC.
func internalNIC(o *object) string {
	words := strings.ToLower(strings.Join([]string{o.text("Id"), o.text("Name"), o.text("Description")}, " "))
	for _, w := range internalWords {
		if strings.Contains(words, w) {
			return "it leads to the BMC (" + w + ")"
		}
	}
	if throughUSB(devicePath(o.text("UefiDevicePath"))) {
		return byUSB
	}
	return ""
}

// interfaces reads the host's network interfaces from all places that may name
// them: EthernetInterfaces (absent on GB200 and GH200), the functions of the
// chassis' adapters (absent on many), and the boot options.
func interfaces(v *survey, options []option) []protocol.Interface {
	n := &nics{own: managerMACs(v), ends: hostEnds(v)}
	v.each("EthernetInterfaces", v.system.f["EthernetInterfaces"], func(o *object) {
		why := internalNIC(o)
		name := printable(o.text("Id"))
		n.add(o.text("MACAddress"), name, fromInterfaces, why)
		n.add(o.text("PermanentMACAddress"), name, fromInterfaces, why)
	})
	for _, chassis := range rawsOf(fields(v.system.f["Links"])["Chassis"]) {
		c := v.get("Chassis", linkOf(chassis))
		if c == nil {
			continue
		}
		v.each("NetworkAdapters", c.f["NetworkAdapters"], func(adapter *object) {
			v.each("NetworkDeviceFunctions", adapter.f["NetworkDeviceFunctions"], func(o *object) {
				name := printable(adapter.text("Id") + "/" + o.text("Id"))
				ethernet := fields(o.f["Ethernet"])
				n.add(textOf(ethernet["MACAddress"]), name, fromFunctions, "")
				n.add(textOf(ethernet["PermanentMACAddress"]), name, fromFunctions, "")
			})
		})
	}
	for _, o := range options {
		why := ""
		if o.byUSB {
			why = byUSB
		}
		n.add(o.MAC, o.Reference, fromOptions, why)
	}
	return n.list
}

// managerMACs are the addresses of the BMC's own interfaces.
func managerMACs(v *survey) []string {
	var out []string
	for _, m := range v.managers() {
		v.each("Managers", m.f["EthernetInterfaces"], func(o *object) {
			for _, key := range []string{"MACAddress", "PermanentMACAddress"} {
				if mac := macOf(o.text(key)); mac != "" {
					out = append(out, mac)
				}
			}
		})
	}
	return out
}

// hostEnds are the addresses of the host's ends of networks to its BMC (Redfish HostInterface).
// A BMC that links to all interfaces of the system says nothing by it.
func hostEnds(v *survey) (out []string) {
	own := linkOf(v.system.f["EthernetInterfaces"])
	for _, m := range v.managers() {
		v.eachIfThere("Managers", m.f["HostInterfaces"], func(h *object) {
			ends := h.f["HostEthernetInterfaces"]
			if own != "" && sameURI(linkOf(ends), own) {
				return
			}
			v.eachIfThere("Managers", ends, func(o *object) {
				for _, key := range []string{"MACAddress", "PermanentMACAddress"} {
					if mac := macOf(o.text(key)); mac != "" {
						out = append(out, mac)
					}
				}
			})
		})
	}
	return out
}
