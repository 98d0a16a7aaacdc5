package bootenv

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// machine is .Machine. Before its first lease a server has no address.
type machine struct{ r *run }

// Format implements fmt.Formatter.
func (m machine) Format(f fmt.State, _ rune) { fmt.Fprint(f, m.Name()) }

// Name is the server's.
func (m *machine) Name() string { return m.r.e.Bundle.Machine.Name }

// ShortName is the name up to its first dot.
func (m *machine) ShortName() string {
	short, _, _ := strings.Cut(m.Name(), ".")
	return short
}

// UUID is the firmware's, or the resource's where that is not known.
func (m *machine) UUID() string { return m.r.e.uuid() }

// Path is where the server's own files lie: machines/UUID.
func (m *machine) Path() string { return m.r.e.machinePath() }

// Url is the URL of Path.
//
//nolint:revive,staticcheck // the name of dr-provision's templates
func (m *machine) Url() string { return m.r.site.url(m.Path()) }

// URL is Url.
func (m *machine) URL() string { return m.Url() }

func (m *machine) address() (netip.Addr, error) {
	a := m.r.site.Address.Unmap()
	if !a.IsValid() {
		return a, wrongf("the server has no address yet").WithHint("use .Machine.MacAddr or .Machine.UUID in paths")
	}
	return a, nil
}

// Address is the leased address.
func (m *machine) Address() (string, error) {
	a, err := m.address()
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// HexAddress is the leased IPv4 address as eight hex digits in capitals, as PXELINUX and
// GRUB ask for it.
func (m *machine) HexAddress() (string, error) {
	a, err := m.address()
	if err != nil {
		return "", err
	}
	if !a.Is4() {
		return "", wrongf("the server boots over IPv6, and loaders ask for no such name").WithHint("use .Machine.MacAddr")
	}
	return fmt.Sprintf("%X", a.As4()), nil
}

// MacAddr is the address of the interface that the server boots from, in the style of a
// loader:
//
//	style          | example
//	none, raw, ipxe, grub | 52:54:00:12:34:56
//	pxe, pxelinux  | 01-52-54-00-12-34-56
//	rpi4           | 52-54-00-12-34-56
func (m *machine) MacAddr(style ...string) (string, error) {
	mac := strings.ToLower(m.r.e.Bundle.Machine.BootMAC)
	dashes := strings.ReplaceAll(mac, ":", "-")
	switch strings.Join(style, " ") {
	case "", "raw", "ipxe", "grub":
		return mac, nil
	case "pxe", "pxelinux":
		return "01-" + dashes, nil
	case "rpi4":
		return dashes, nil
	}
	return "", wrongf("a MAC address has no style %q; use raw, pxelinux, ipxe, grub or rpi4", strings.Join(style, " "))
}

// HardwareAddrs are the addresses of all interfaces.
func (m *machine) HardwareAddrs() []string { return slices.Clone(m.r.e.Bundle.Machine.MACs) }

// Arch is the architecture in Go's spelling.
func (m *machine) Arch() string { return m.r.e.Arch }

// distroArch is the architecture as the operating system's packages spell it.
func (m *machine) DistroArch() string { return distroArch(familyOf(m.r.e.Spec.OS), m.r.e.Arch) }

// OS is the operating system that the server has once the environment has booted.
func (m *machine) OS() string { return m.r.e.Spec.OS.Name }

// Rack is the rack's name.
func (m *machine) Rack() string { return m.r.e.Bundle.Machine.Rack }

// Segment is the segment that the server boots on.
func (m *machine) Segment() string { return m.r.e.Bundle.Machine.Segment }

// Labels are the server's.
func (m *machine) Labels() map[string]string {
	out := maps.Clone(m.r.e.Bundle.Machine.Labels)
	if out == nil {
		out = map[string]string{}
	}
	return out
}
