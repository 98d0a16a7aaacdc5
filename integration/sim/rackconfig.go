package sim

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/goccy/go-yaml"
)

// The kinds of machines behind a simulated BMC.
const (
	KindSimulated = "simulated" // firmware and installer are simulated, the packets are real
	KindQEMU      = "qemu"      // OVMF in QEMU
)

// Where Debian's package ovmf has its firmware.
const (
	defaultOVMFCode = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	defaultOVMFVars = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

// RackConfig is the file of rackboot-sim rack.
type RackConfig struct {
	Machines []MachineConfig `yaml:"machines"`
	// Buttons presses the power buttons of all simulated machines with each value.
	Buttons <-chan os.Signal `yaml:"-"`
}

// MachineConfig is one machine and its BMC.
type MachineConfig struct {
	Name string `yaml:"name"`
	Kind string `yaml:"kind"` // simulated or qemu
	MAC  string `yaml:"mac"`
	UUID string `yaml:"uuid"` // qemu only; may be empty
	// BMC is the address:port of the Redfish service.
	BMC string `yaml:"bmc"`
	// Credentials is a file with the BMC's username and password, in the form that
	// the agent reads.
	Credentials string `yaml:"credentials"`
	// Interface is where a simulated machine broadcasts. DHCP is the address:port of the
	// machine's own network instead: its packets go there, as from a relay.
	Interface string `yaml:"interface"`
	DHCP      string `yaml:"dhcp"`
	// Log is the file to which a simulated machine appends what becomes of it; empty is
	// none. What its disk has it learns from there, so that the disk outlives the process.
	Log string `yaml:"log"`
	// Live makes what a simulated machine boots from the network a system that installs
	// nothing and stays up; it reports that it is booted.
	Live bool `yaml:"live"`
	// Speed divides the times of a simulated firmware's DHCP; 0 is 1, as EDK2.
	Speed float64 `yaml:"speed"`
	// Install and Shutdown are how long a simulated machine's installer and the shutdown of
	// its system take. Default 1s.
	Install  time.Duration `yaml:"install"`
	Shutdown time.Duration `yaml:"shutdown"`
	// Tap is an interface that exists already, for a machine in QEMU. Disk is its raw
	// disk image, and Dir the folder for NVRAM and serial log, with a short path.
	Tap  string `yaml:"tap"`
	Disk string `yaml:"disk"`
	Dir  string `yaml:"dir"`
	Code string `yaml:"code"` // firmware; Debian's if empty
	Vars string `yaml:"vars"` // its NVRAM as it comes; Debian's if empty
	// Post is how long firmware takes from power to the boot device. Default 2s.
	Post time.Duration `yaml:"post"`
	// MemoryMiB is of a machine in QEMU; 0 is 512.
	MemoryMiB int `yaml:"memoryMiB"`
	// Drives is how many virtual drives the BMC has, 1 or 2. Default 1.
	Drives int `yaml:"drives"`
}

// LoadRackConfig reads the file. Errors name file, line and field.
func LoadRackConfig(path string) (RackConfig, error) {
	var c RackConfig
	raw, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := yaml.UnmarshalWithOptions(raw, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, true))
	}
	if len(c.Machines) == 0 {
		return c, fmt.Errorf("%s: machines is empty", path)
	}
	for i := range c.Machines {
		if err := c.Machines[i].check(); err != nil {
			return c, fmt.Errorf("%s: machines[%d].%w", path, i, err)
		}
	}
	return c, nil
}

// check fills what is left out and says what is wrong.
func (m *MachineConfig) check() error {
	if m.Name == "" {
		return fmt.Errorf("name is empty")
	}
	if mac, err := net.ParseMAC(m.MAC); err != nil || len(mac) != 6 {
		return fmt.Errorf("mac: %q is not a MAC address", m.MAC)
	}
	if _, err := netip.ParseAddrPort(m.BMC); err != nil {
		return fmt.Errorf("bmc: %q is not address:port", m.BMC)
	}
	if m.Credentials == "" {
		return fmt.Errorf("credentials is empty; it is a file with username and password")
	}
	if m.Code == "" {
		m.Code = defaultOVMFCode
	}
	if m.Vars == "" {
		m.Vars = defaultOVMFVars
	}
	if m.Post == 0 {
		m.Post = 2 * time.Second
	}
	if m.Drives == 0 {
		m.Drives = 1
	}
	if m.Install == 0 {
		m.Install = simulatedInstall
	}
	if m.Shutdown == 0 {
		m.Shutdown = simulatedShutdown
	}
	switch {
	case m.Drives != 1 && m.Drives != 2:
		return fmt.Errorf("drives: %d is not 1 or 2", m.Drives)
	case m.MemoryMiB < 0:
		return fmt.Errorf("memoryMiB: %d is not a size", m.MemoryMiB)
	case m.Kind == KindSimulated && (m.Interface == "") == (m.DHCP == ""):
		return fmt.Errorf("interface or dhcp: give one of them; a simulated machine broadcasts on the one, or sends to the other")
	case m.Speed < 0 || m.Install < 0 || m.Shutdown < 0:
		return fmt.Errorf("speed, install and shutdown are not less than 0")
	case m.Kind == KindQEMU && (m.Tap == "" || m.Disk == "" || m.Dir == ""):
		return fmt.Errorf("tap, disk and dir are needed for a machine in QEMU")
	case m.Kind != KindSimulated && m.Kind != KindQEMU:
		return fmt.Errorf("kind: %q is not %s or %s", m.Kind, KindSimulated, KindQEMU)
	}
	return nil
}

// account reads the BMC's account.
func (m *MachineConfig) account() (username, password string, err error) {
	raw, err := os.ReadFile(m.Credentials)
	if err != nil {
		return "", "", err
	}
	var v struct {
		Username string `yaml:"username"`
		Password string `yaml:"password"`
	}
	// The parser's error is not passed on: it would quote the file.
	if err := yaml.UnmarshalWithOptions(raw, &v, yaml.Strict()); err != nil || v.Username == "" {
		return "", "", fmt.Errorf("%s does not have the lines username and password", m.Credentials)
	}
	return v.Username, v.Password, nil
}
