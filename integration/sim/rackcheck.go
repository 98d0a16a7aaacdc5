package sim

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// wrong is what is wrong at a place of a rack file, and what to do.
type wrong struct{ path, what, hint string }

// check fills what is left out, writes the machines of a count out, and says what is wrong.
func (c *RackConfig) check() *wrong {
	if len(c.Machines) == 0 {
		return &wrong{"machines", "it is empty", "describe one machine at least; configs/sim/rack.yaml is an example"}
	}
	if w := c.Manifests.check(); w != nil {
		return w
	}
	written := c.Machines
	c.Machines = nil
	taken := map[string]string{}
	for i, m := range written {
		at := fmt.Sprintf("machines[%d]", i)
		if w := m.check(); w != nil {
			w.path = at + "." + w.path
			return w
		}
		if len(c.Machines)+max(1, m.Count) > MaxMachines {
			return &wrong{at, fmt.Sprintf("with it there are more than %d machines", MaxMachines), "run several racks, each with a file of its own"}
		}
		all, w := m.counted()
		if w != nil {
			w.path = at + "." + w.path
			return w
		}
		for _, one := range all {
			if w := one.alone(at, taken); w != nil {
				return w
			}
		}
		c.Machines = append(c.Machines, all...)
	}
	return nil
}

func (m *RackManifests) check() *wrong {
	if m.File == "" {
		return nil
	}
	for _, f := range []struct{ key, value string }{{"rack", m.Rack}, {"segment", m.Segment}, {"credentialsRef", m.CredentialsRef}} {
		if f.value == "" {
			return &wrong{"manifests." + f.key, "it is empty", "the manifests name the rack, its boot segment and the file with the BMCs' account at the agent, as local:NAME"}
		}
	}
	return nil
}

// check fills what is left out of a machine and says what is wrong with it by itself.
func (m *MachineConfig) check() *wrong {
	if m.Kind == "" {
		m.Kind = KindSimulated
	}
	code, vars := defaultOVMFCode, defaultOVMFVars
	if m.QEMU.SecureBoot {
		code, vars = secureOVMFCode, secureOVMFVars
	}
	m.QEMU.Code, m.QEMU.Vars = cmp.Or(m.QEMU.Code, code), cmp.Or(m.QEMU.Vars, vars)
	if m.Post == 0 {
		m.Post = 2 * time.Second
	}
	if m.Drives == 0 {
		m.Drives = 1
	}
	if m.Simulated.Install == 0 {
		m.Simulated.Install = simulatedInstall
	}
	if m.Simulated.Shutdown == 0 {
		m.Simulated.Shutdown = simulatedShutdown
	}
	mac, err := net.ParseMAC(m.MAC)
	addr, bad := netip.ParseAddrPort(m.BMC)
	simulated := m.Kind == KindSimulated
	switch {
	case m.Name == "":
		return &wrong{"name", "it is empty", "give each machine a name"}
	case err != nil || len(mac) != 6 || mac[0]&1 != 0:
		return &wrong{"mac", fmt.Sprintf("%q is not the MAC address of a port", m.MAC), "write it as 52:54:00:00:00:01"}
	case bad != nil || !addr.IsValid():
		return &wrong{"bmc", fmt.Sprintf("%q is not address:port", m.BMC), "write it as 127.0.0.1:20001, or with port 0 for a free one"}
	case m.Credentials == "" && m.Account.Username == "":
		return &wrong{"credentials", "it is empty", "name a file with the lines username and password"}
	case m.Kind != KindSimulated && m.Kind != KindQEMU:
		return &wrong{"kind", fmt.Sprintf("%q is not %s or %s", m.Kind, KindSimulated, KindQEMU), "leave it out for a simulated machine"}
	case m.Drives != 1 && m.Drives != 2:
		return &wrong{"drives", fmt.Sprintf("%d is not 1 or 2", m.Drives), "leave it out for one"}
	case m.Capture != "" && m.Drives != 1:
		return &wrong{"drives", "a captured BMC has the drives that it had", "leave it out"}
	case m.QEMU.MemoryMiB < 0:
		return &wrong{"memoryMiB", fmt.Sprintf("%d is not a size", m.QEMU.MemoryMiB), "leave it out for 512"}
	case simulated && (m.Simulated.Interface == "") == (m.Simulated.DHCP == ""):
		return &wrong{"interface or dhcp", "one of them is needed, and not both", "a simulated machine broadcasts on the one, or sends to the other"}
	case m.Simulated.Speed < 0 || m.Simulated.Install < 0 || m.Simulated.Shutdown < 0 || m.Post < 0:
		return &wrong{"speed", "speed, post, install and shutdown are not less than 0", "leave them out for the usual times"}
	case !simulated && (m.QEMU.Tap == "" || m.QEMU.Disk == "" || m.QEMU.Dir == ""):
		return &wrong{"tap", "tap, disk and dir are needed for a machine in QEMU", "give all three, or leave kind out for a simulated machine"}
	case m.Count < 0 || m.Count > MaxMachines:
		return &wrong{"count", fmt.Sprintf("%d is not 1 to %d", m.Count, MaxMachines), "leave it out for one machine"}
	case m.Count > 0 && !simulated:
		return &wrong{"count", "machines in QEMU are described one by one", "their tap, disk and dir are their own"}
	case m.Count > 1 && !strings.Contains(m.Name, number):
		return &wrong{"name", fmt.Sprintf("%d machines would have the name %s", m.Count, m.Name), "put {n} where the machine's number is to stand, as node-{n}"}
	}
	if m.Simulated.DHCP != "" {
		if to, err := netip.ParseAddrPort(m.Simulated.DHCP); err != nil || !to.Addr().Is4() || to.Port() == 0 {
			return &wrong{"dhcp", fmt.Sprintf("%q is not address:port of IPv4", m.Simulated.DHCP), "write where the agent listens for DHCP, as 127.0.0.1:6767"}
		}
	}
	return nil
}

// number is what stands for a machine's number.
const number = "{n}"

// counted are the machines of a count, or the machine itself. m was checked.
func (m MachineConfig) counted() ([]MachineConfig, *wrong) {
	if m.Count == 0 {
		return []MachineConfig{m}, nil
	}
	hw, err := net.ParseMAC(m.MAC)
	if err != nil {
		return nil, &wrong{"mac", err.Error(), ""}
	}
	var wide [8]byte
	copy(wide[2:], hw)
	first, last := binary.BigEndian.Uint64(wide[:]), uint64(m.Count-1)
	if (first+last)>>40 != first>>40 {
		return nil, &wrong{"mac", fmt.Sprintf("%d machines from %s are more than its first octet has", m.Count, m.MAC), "begin lower"}
	}
	bmc := netip.MustParseAddrPort(m.BMC)
	if bmc.Port() != 0 && int(bmc.Port())+m.Count-1 > 65535 {
		return nil, &wrong{"bmc", fmt.Sprintf("%d ports from %d are more than there are", m.Count, bmc.Port()), "begin lower, or take port 0"}
	}
	digits, all := len(fmt.Sprint(m.Count)), make([]MachineConfig, 0, m.Count)
	for i := range m.Count {
		one := m
		one.Count = 0
		n := fmt.Sprintf("%0*d", digits, i+1)
		one.Name, one.Simulated.Log = strings.ReplaceAll(m.Name, number, n), strings.ReplaceAll(m.Simulated.Log, number, n)
		binary.BigEndian.PutUint64(wide[:], first+uint64(i))
		one.MAC = net.HardwareAddr(wide[2:]).String()
		if bmc.Port() != 0 {
			one.BMC = netip.AddrPortFrom(bmc.Addr(), bmc.Port()+uint16(i)).String()
		}
		all = append(all, one)
	}
	return all, nil
}

// alone says what of the machine another has already; taken is what they have.
func (m *MachineConfig) alone(at string, taken map[string]string) *wrong {
	mac, err := net.ParseMAC(m.MAC)
	if err != nil {
		return &wrong{at + ".mac", err.Error(), ""}
	}
	bmc := netip.MustParseAddrPort(m.BMC)
	own := []struct{ key, value, hint string }{
		{"name", m.Name, "give each machine a name of its own"},
		{"mac", mac.String(), "two machines with one address get each other's boots; a count takes as many addresses as it has machines"},
		{"bmc", m.BMC, "give each BMC a port of its own, or port 0 for a free one; a count takes as many ports as it has machines"},
		{"log", m.Simulated.Log, "give each machine a log of its own; with a count, put {n} in its name"},
		{"disk", m.QEMU.Disk, "give each machine a disk of its own"},
		{"tap", m.QEMU.Tap, "give each machine an interface of its own"},
	}
	for _, o := range own {
		if o.value == "" || o.key == "bmc" && bmc.Port() == 0 {
			continue
		}
		key := o.key + " " + o.value
		if other, is := taken[key]; is {
			return &wrong{at + "." + o.key, fmt.Sprintf("%s of machine %s is that of machine %s", o.value, m.Name, other), o.hint}
		}
		taken[key] = m.Name
	}
	return nil
}
