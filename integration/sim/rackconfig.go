package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"rackboot/protocol"
	"rackboot/protocol/resource"
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
	// With Secure Boot on, by Microsoft's keys.
	secureOVMFCode = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
	secureOVMFVars = "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"
)

// MaxMachines is how many machines one rack file may have.
const MaxMachines = 2000

// maxRackFile bounds the file, in bytes.
const maxRackFile = 1 << 20

// RackConfig is the file of rackboot-sim rack.
type RackConfig struct {
	// Manifests has the machines' BMCs and Servers written to a file, for rackctl apply -f.
	Manifests RackManifests `yaml:"manifests"`
	// Machines are the machines, each with its BMC.
	Machines []MachineConfig `yaml:"machines"`
	// Buttons presses the power buttons of all simulated machines with each value.
	Buttons <-chan os.Signal `yaml:"-"`
}

// RackManifests says what the manifests of the machines name.
type RackManifests struct {
	// File is where they are written, once all machines are up. Empty is nowhere.
	File string `yaml:"file"`
	// Rack is the name of the machines' Rack.
	Rack string `yaml:"rack"`
	// Segment is the name of the Segment that they boot from.
	Segment string `yaml:"segment"`
	// CredentialsRef is where the agent has the BMCs' account, as local:NAME.
	CredentialsRef string `yaml:"credentialsRef"`
	// Labels are those of every Server.
	Labels map[string]string `yaml:"labels"`
}

// MachineConfig is one machine and its BMC, or with Count many of them.
type MachineConfig struct {
	// Count makes that many machines: {n} in name and log is the machine's number, from 1
	// and with leading zeros, mac is the first machine's and counts up, and so does the port
	// of bmc. Only for simulated machines.
	Count int `yaml:"count"`
	// Name is the machine's name.
	Name string `yaml:"name"`
	// Kind is simulated (default) or qemu.
	Kind string `yaml:"kind"`
	// MAC is the address of the port that the machine boots from.
	MAC string `yaml:"mac"`
	// BMC is the address:port of the Redfish service; with port 0 a free one is taken.
	BMC string `yaml:"bmc"`
	// Credentials is a file with the BMC's username and password, in the form that
	// the agent reads.
	Credentials string `yaml:"credentials"`
	// Account is the account itself, where no file has it.
	Account resource.BMCAccount `yaml:"-"`
	// Post is how long firmware takes from power to the boot device. Default 2s.
	Post time.Duration `yaml:"post"`
	// Drives is how many virtual drives the BMC has, 1 or 2. Default 1.
	Drives int `yaml:"drives"`
	// Capture is a file that rackctl bmc probe --direct --record wrote: the BMC shows what that
	// one showed, except of the MAC address, UUID, power and boot override, which are the machine's
	// own. Its faults are not in it. Empty is an unremarkable BMC.
	Capture string `yaml:"capture"`
	// Simulated and QEMU are what machines of one kind have; in the file they stand beside the others.
	Simulated SimulatedMachine `yaml:",inline"`
	QEMU      QEMUMachine      `yaml:",inline"`
}

// SimulatedMachine is what a simulated machine has besides.
type SimulatedMachine struct {
	// Interface is where a simulated machine broadcasts, from port 68, which needs root.
	Interface string `yaml:"interface"`
	// DHCP is the address:port of the machine's own network instead: its packets go there, as
	// from a relay.
	DHCP string `yaml:"dhcp"`
	// Log is the file to which a simulated machine appends what becomes of it; empty is
	// none. What its disk has it learns from there, so that the disk outlives the process.
	Log string `yaml:"log"`
	// Live makes what a simulated machine boots from the network a system that installs
	// nothing and stays up; it reports that it is booted.
	Live bool `yaml:"live"`
	// Speed divides the times of a simulated firmware's DHCP; 0 is 1, as EDK2.
	Speed float64 `yaml:"speed"`
	// Install is how long a simulated machine's installer takes. Default 1s.
	Install time.Duration `yaml:"install"`
	// Shutdown is how long the shutdown of a simulated machine's system takes. Default 1s.
	Shutdown time.Duration `yaml:"shutdown"`
}

// QEMUMachine is what a machine in QEMU has besides.
type QEMUMachine struct {
	// UUID is of a machine in QEMU; it may be empty.
	UUID string `yaml:"uuid"`
	// Tap is an interface that exists already, for a machine in QEMU.
	Tap string `yaml:"tap"`
	// Disk is the raw disk image of a machine in QEMU.
	Disk string `yaml:"disk"`
	// Dir is the folder for NVRAM and serial log of a machine in QEMU, with a short path.
	Dir string `yaml:"dir"`
	// SecureBoot has the firmware of a machine in QEMU verify what it boots.
	SecureBoot bool `yaml:"secureBoot"`
	// Authorities is an EFI signature list of whom the firmware of a machine in QEMU trusts for
	// HTTPS boot, as rackctl boot-cert make writes it; nobody if empty.
	Authorities string `yaml:"authorities"`
	// Code is the firmware of a machine in QEMU; Debian's if empty.
	Code string `yaml:"code"`
	// Vars is its NVRAM as it comes; Debian's if empty.
	Vars string `yaml:"vars"`
	// MemoryMiB is of a machine in QEMU; 0 is 512.
	MemoryMiB int `yaml:"memoryMiB"`
}

const opRackFile = "read the rack's file"

// LoadRackConfig reads the file. Errors name file, line and field.
func LoadRackConfig(path string) (c RackConfig, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, protocol.Errorf(protocol.CodeInvalid, opRackFile, "%w", err).WithHint("give its path with --config; configs/sim/rack.yaml is an example")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, maxRackFile+1))
	if err != nil {
		return c, protocol.Errorf(protocol.CodeInvalid, opRackFile, "%w", err)
	}
	return ParseRackConfig(path, raw)
}

// ParseRackConfig reads the text of a rack file; path is what errors call it. The machines
// of a count are written out. It fails with invalid.
func ParseRackConfig(path string, raw []byte) (RackConfig, error) {
	var c RackConfig
	if len(raw) > maxRackFile {
		return c, protocol.Errorf(protocol.CodeInvalid, opRackFile, "%s: it has more than %d bytes", path, maxRackFile).WithHint("a machine with count stands for many")
	}
	if err := yaml.UnmarshalWithOptions(raw, &c, yaml.Strict()); err != nil {
		e := protocol.Errorf(protocol.CodeInvalid, opRackFile, "%s: %s", path, yaml.FormatError(err, false, true))
		if unknown := (*yaml.UnknownFieldError)(nil); errors.As(err, &unknown) {
			return c, e.WithHint("take it out or spell it as one of: %s", strings.Join(slices.Concat(fields(c), fields(c.Manifests), fields(MachineConfig{})), ", "))
		}
		return c, e
	}
	if w := c.check(); w != nil {
		return c, protocol.Errorf(protocol.CodeInvalid, opRackFile, "%s:%d: %s: %s", path, lineOf(raw, w.path), w.path, w.what).WithHint("%s", w.hint)
	}
	return c, nil
}

// LoopbackRack is a rack without a file: n machines on this host, each with the account demo
// and the password demo at its BMC, which is captured if a file is given. It fails with invalid.
func LoopbackRack(n int, capture string) (RackConfig, error) {
	c := RackConfig{Machines: []MachineConfig{{
		Count: n, Name: "machine-" + number, MAC: "02:00:00:00:00:01", BMC: "127.0.0.1:8001", Capture: capture, Simulated: SimulatedMachine{DHCP: "127.0.0.1:6767"},
		Account: resource.BMCAccount{Username: "demo", Password: "demo"},
	}}}
	if n < 1 || n > MaxMachines {
		return c, protocol.Errorf(protocol.CodeInvalid, "make a rack", "%d is not 1 to %d machines", n, MaxMachines)
	}
	if w := c.check(); w != nil {
		return c, protocol.Errorf(protocol.CodeInternal, "make a rack", "%s: %s", w.path, w.what)
	}
	return c, nil
}

// inline is the tag of a part whose keys are those of the struct that has it.
const inline = ",inline"

// fields are the keys of a struct.
func fields(v any) (out []string) {
	for f := range reflect.TypeOf(v).Fields() {
		switch key := f.Tag.Get("yaml"); {
		case key == inline:
			out = append(out, fields(reflect.Zero(f.Type).Interface())...)
		case key != "-" && !slices.Contains(out, key):
			out = append(out, key)
		}
	}
	return out
}

// lineOf is the line of a path as machines[0].mac, or of the nearest above it that the file
// has; 1 if there is none.
func lineOf(raw []byte, path string) int {
	for path != "" {
		if p, err := yaml.PathString("$." + path); err == nil {
			if n, err := p.ReadNode(strings.NewReader(string(raw))); err == nil && n != nil && n.GetToken() != nil {
				return n.GetToken().Position.Line
			}
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return 1
}

// account reads the BMC's account.
func (m *MachineConfig) account() (username, password string, err error) {
	if m.Credentials == "" {
		return m.Account.Username, m.Account.Password, nil
	}
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
