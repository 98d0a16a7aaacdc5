package redfish

import (
	"strings"

	"rackboot/protocol"
)

// bindDevices fills in the addresses of Dell's network devices, whose boot options show none: a
// BIOS attribute names the interface that each is bound to (HttpDev1Interface, PxeDev1Interface),
// and that of HTTP may be another than that of PXE.
func bindDevices(options []protocol.BootOption, list []protocol.Interface, bios attributes) {
	for i := range options {
		o := &options[i]
		prefix := map[protocol.OptionKind]string{protocol.OptionHTTP: "HttpDev", protocol.OptionPXE: "PxeDev"}[o.Kind]
		number, ok := deviceNumber(o.Name)
		if prefix == "" || !ok || o.MAC != "" {
			continue
		}
		if name := bios[prefix+number+"Interface"]; name != "" {
			o.MAC = macNamed(list, name)
		}
	}
}

// deviceNumber is the number in the name of one of Dell's devices: "HTTP Device 1: NIC in Slot 5".
func deviceNumber(name string) (number string, ok bool) {
	for _, kind := range []string{"HTTP Device ", "PXE Device "} {
		if rest, is := strings.CutPrefix(name, kind); is {
			number, _, ok = strings.Cut(rest, ":")
			return number, ok && len(number) == 1 && number[0] >= '1' && number[0] <= '9'
		}
	}
	return "", false
}

// macNamed is the address of the interface, or the function of an adapter, of that name.
func macNamed(list []protocol.Interface, name string) string {
	for _, n := range list {
		if n.Name[strings.LastIndexByte(n.Name, '/')+1:] == name {
			return n.MAC
		}
	}
	return ""
}
