package protocol

import (
	"cmp"
	"slices"
	"strings"
)

// BootMAC is the address that the host most likely boots from: that of the first network
// boot option in boot order, whichever method; else of the first interface; empty if the
// BMC shows none. Boot options name the interfaces of systems that list none (NVIDIA
// GB200), and the interface that leads to the BMC as well.
func (i Inventory) BootMAC() string {
	if mac := i.optionMAC(OptionPXE, OptionHTTP); mac != "" {
		return mac
	}
	if own := i.HostMACs(); len(own) > 0 {
		return own[0]
	}
	return ""
}

// BootMACBy is the address that the host boots from by the one method, OptionPXE or OptionHTTP:
// the devices of both may be bound to different interfaces (Dell). Where no boot option of the
// method names one, it is BootMAC.
func (i Inventory) BootMACBy(method OptionKind) string {
	return cmp.Or(i.optionMAC(method), i.BootMAC())
}

// optionMAC is the address of the first boot option of one of the methods that is the host's.
func (i Inventory) optionMAC(methods ...OptionKind) string {
	internal := map[string]bool{}
	for _, n := range i.Interfaces {
		if n.Internal != "" {
			internal[InterfaceMAC(n.MAC)] = true
		}
	}
	for _, o := range i.BootOptions {
		mac := InterfaceMAC(o.MAC)
		if slices.Contains(methods, o.Kind) && !o.Disabled && mac != "" && !internal[mac] {
			return mac
		}
	}
	return ""
}

// HostMACs are the addresses of the host's own interfaces in the form of a Server's, each
// once.
func (i Inventory) HostMACs() (out []string) {
	for _, m := range i.MACs() {
		if mac := InterfaceMAC(m); mac != "" && !slices.Contains(out, mac) {
			out = append(out, mac)
		}
	}
	return out
}

// HostArchitecture is in the words of a Server; empty if it is not known.
func (i Inventory) HostArchitecture() string {
	switch i.Architecture {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return ""
}

// Identifies says whether the UUID tells the host from others.
func (i Inventory) Identifies() bool {
	return i.UUIDProblem == "" && ValidUUID(strings.ToLower(i.UUID))
}
