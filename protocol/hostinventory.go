package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an inventory.
const (
	MaxHostText       = 128 // bytes of one text
	MaxHostInterfaces = 64
	MaxHostDisks      = 256
	MaxNeighbours     = 4           // of one interface
	MaxHostMbps       = 100_000_000 // speed of a link
	// maxHostCount is more processors of any kind than a machine has.
	maxHostCount = 1 << 16
	// maxHostBytes is the largest number that JSON readers keep exactly (2^53).
	maxHostBytes = 1 << 53
)

// HostInventory is what an image that runs on a server sees of it, where
// Inventory is what its BMC says. Texts are as the hardware gives them, without
// control characters; what is not known is absent. Lists are in a stable order.
type HostInventory struct {
	Board       Board           `json:"board,omitzero"`
	CPU         HostCPU         `json:"cpu,omitzero"`
	MemoryBytes uint64          `json:"memoryBytes,omitempty"`
	Interfaces  []HostInterface `json:"interfaces,omitempty"`
	Disks       []HostDisk      `json:"disks,omitempty"`
}

// Board is what SMBIOS says of the machine (DMTF DSP0134, types 0 and 1).
type Board struct {
	Vendor      string `json:"vendor,omitempty"`
	Product     string `json:"product,omitempty"`
	Serial      string `json:"serial,omitempty"`
	UUID        string `json:"uuid,omitempty"` // in lower case
	BIOSVendor  string `json:"biosVendor,omitempty"`
	BIOSVersion string `json:"biosVersion,omitempty"`
	BIOSDate    string `json:"biosDate,omitempty"` // as firmware spells it: 02/06/2026
}

// HostCPU is the processors together; a machine has one kind.
type HostCPU struct {
	Model        string `json:"model,omitempty"`
	Architecture string `json:"architecture,omitempty"` // amd64, arm64
	Sockets      int    `json:"sockets,omitempty"`
	Cores        int    `json:"cores,omitempty"`
	Threads      int    `json:"threads,omitempty"`
}

// HostInterface is a network interface with a device behind it.
type HostInterface struct {
	Name string `json:"name"`
	MAC  string `json:"mac"` // 02:00:00:00:00:01
	// PermanentMAC is that of the device, where it is another than MAC.
	PermanentMAC string      `json:"permanentMAC,omitempty"`
	Link         bool        `json:"link,omitempty"`      // a carrier was seen
	SpeedMbps    int         `json:"speedMbps,omitempty"` // 10^6 bits per second
	Driver       string      `json:"driver,omitempty"`
	PCI          string      `json:"pci,omitempty"`        // 0000:3b:00.0
	Neighbours   []Neighbour `json:"neighbours,omitempty"` // by LLDP
}

// Neighbour is who is at the other end of a cable, by its own words (IEEE
// 802.1AB). Not authenticated: whoever is on the cable can say it.
type Neighbour struct {
	Chassis string `json:"chassis"`
	Port    string `json:"port"`
	System  string `json:"system,omitempty"`
}

// HostDisk is a block device that can be written.
type HostDisk struct {
	Name       string `json:"name"`
	Model      string `json:"model,omitempty"`
	Serial     string `json:"serial,omitempty"`
	WWN        string `json:"wwn,omitempty"` // naa.5000c500a1b2c3d4, eui.0025385b11b0c1d2
	Bytes      uint64 `json:"bytes"`
	Rotational bool   `json:"rotational,omitempty"`
	Transport  string `json:"transport,omitempty"` // nvme, sata, sas, usb, virtio, mmc
}

func (h *HostInventory) validate(f *FieldErrors) {
	text := func(path, s string) {
		if !HostText(s) {
			f.Add(path, "more than %d bytes, control characters, or not UTF-8", MaxHostText)
		}
	}
	count := func(path string, n int) {
		if n < 0 || n > maxHostCount {
			f.Add(path, "%d is not between 0 and %d", n, maxHostCount)
		}
	}
	b, c := h.Board, h.CPU
	for path, s := range map[string]string{
		"vendor": b.Vendor, "product": b.Product, "serial": b.Serial, "biosVendor": b.BIOSVendor, "biosVersion": b.BIOSVersion, "biosDate": b.BIOSDate,
	} {
		text("inventory.board."+path, s)
	}
	if b.UUID != "" && !ValidUUID(b.UUID) {
		f.Add("inventory.board.uuid", "not a UUID in lower case")
	}
	text("inventory.cpu.model", c.Model)
	text("inventory.cpu.architecture", c.Architecture)
	for path, n := range map[string]int{"sockets": c.Sockets, "cores": c.Cores, "threads": c.Threads} {
		count("inventory.cpu."+path, n)
	}
	size(f, "inventory.memoryBytes", h.MemoryBytes)
	if len(h.Interfaces) > MaxHostInterfaces {
		f.Add("inventory.interfaces", "%d, at most %d", len(h.Interfaces), MaxHostInterfaces)
	}
	for i, n := range h.Interfaces {
		n.validate(f, fmt.Sprintf("inventory.interfaces[%d].", i), text)
	}
	if len(h.Disks) > MaxHostDisks {
		f.Add("inventory.disks", "%d, at most %d", len(h.Disks), MaxHostDisks)
	}
	for i, d := range h.Disks {
		at := fmt.Sprintf("inventory.disks[%d].", i)
		if d.Name == "" {
			f.Add(at+"name", "is missing")
		}
		for path, s := range map[string]string{"name": d.Name, "model": d.Model, "serial": d.Serial, "wwn": d.WWN, "transport": d.Transport} {
			text(at+path, s)
		}
		size(f, at+"bytes", d.Bytes)
	}
}

func (n HostInterface) validate(f *FieldErrors, at string, text func(path, s string)) {
	if n.Name == "" {
		f.Add(at+"name", "is missing")
	}
	if InterfaceMAC(n.MAC) != n.MAC || n.MAC == "" {
		f.Add(at+"mac", "%.20q is not an interface's MAC address such as 02:00:00:00:00:01", n.MAC)
	}
	if InterfaceMAC(n.PermanentMAC) != n.PermanentMAC {
		f.Add(at+"permanentMAC", "%.20q is not an interface's MAC address", n.PermanentMAC)
	}
	if n.SpeedMbps < 0 || n.SpeedMbps > MaxHostMbps {
		f.Add(at+"speedMbps", "%d is no speed", n.SpeedMbps)
	}
	for path, s := range map[string]string{"name": n.Name, "driver": n.Driver, "pci": n.PCI} {
		text(at+path, s)
	}
	if len(n.Neighbours) > MaxNeighbours {
		f.Add(at+"neighbours", "%d, at most %d", len(n.Neighbours), MaxNeighbours)
	}
	for i, o := range n.Neighbours {
		for path, s := range map[string]string{"chassis": o.Chassis, "port": o.Port, "system": o.System} {
			text(fmt.Sprintf("%sneighbours[%d].%s", at, i, path), s)
		}
	}
}

func size(f *FieldErrors, path string, n uint64) {
	if n > maxHostBytes {
		f.Add(path, "%d is more than 2^53", n)
	}
}

// HostText says whether a text may stand in an inventory.
func HostText(s string) bool {
	if len(s) > MaxHostText || !utf8.ValidString(s) {
		return false
	}
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
	}
	return true
}

// CleanHostText makes a text of hardware one that may stand in an inventory:
// without control characters and space around it, and cut to MaxHostText.
func CleanHostText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, s))
	for len(s) > MaxHostText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimSpace(s)
}
