package host

import (
	"bufio"
	"strings"

	"rackboot/protocol"
)

// cpu reads the processors: what they are from /proc/cpuinfo, how many from there
// where it says so, else from the topology in /sys (arm64, some virtual machines).
func (t tree) cpu(architecture string) protocol.HostCPU {
	c := cpuinfo(t.text("proc/cpuinfo"))
	if c.Cores == 0 {
		c.Sockets, c.Cores = t.topology()
	}
	c.Architecture = architecture
	return c
}

// cpuinfo reads /proc/cpuinfo. Sockets and Cores are 0 if it does not tell.
func cpuinfo(text string) protocol.HostCPU {
	var c protocol.HostCPU
	sockets, cores := map[string]bool{}, map[string]bool{}
	socket, implementer := "", ""
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxFile)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor": // "Processor" of 32-bit ARM is another field
			c.Threads++
			socket = ""
		case "model name":
			if c.Model == "" {
				c.Model = protocol.CleanHostText(strings.Join(strings.Fields(value), " "))
			}
		case "physical id":
			socket = value
			sockets[value] = true
		case "core id":
			if socket != "" {
				cores[socket+"/"+value] = true
			}
		case "CPU implementer":
			implementer = value
		case "CPU part":
			if c.Model == "" {
				c.Model = armModel(implementer, value)
			}
		}
	}
	c.Sockets, c.Cores = len(sockets), len(cores)
	return c
}

// armModel names a core of ARM by MIDR_EL1, which is all that Linux tells.
func armModel(implementer, part string) string {
	if implementer == "0x41" {
		switch part {
		case "0xd08":
			return "Arm Cortex-A72"
		case "0xd0c":
			return "Arm Neoverse-N1"
		case "0xd40":
			return "Arm Neoverse-V1"
		case "0xd49":
			return "Arm Neoverse-N2"
		case "0xd4f":
			return "Arm Neoverse-V2"
		}
	}
	return protocol.CleanHostText("implementer " + implementer + ", part " + part)
}

// topology counts packages and cores of the processors that are online.
func (t tree) topology() (sockets, cores int) {
	packages, all := map[string]bool{}, map[string]bool{}
	const folder = "sys/devices/system/cpu/"
	for _, name := range t.names(folder[:len(folder)-1]) {
		if strings.Trim(strings.TrimPrefix(name, "cpu"), "0123456789") != "" || name == "cpu" {
			continue
		}
		core := t.line(folder + name + "/topology/core_id")
		if core == "" {
			continue
		}
		socket := t.line(folder + name + "/topology/physical_package_id") // -1 is none known
		packages[socket], all[socket+"/"+core] = true, true
	}
	return len(packages), len(all)
}
