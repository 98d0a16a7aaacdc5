package host

import (
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rackboot/protocol"
)

// maxFile bounds what is read of one file, in bytes: /proc/cpuinfo of 1,024 threads
// has about 1.5 MiB.
const maxFile = 8 << 20

// Collect reads the inventory of the machine whose root file system is root.
// architecture is that of the running program, as Go names it. What cannot be read is
// absent: an inventory with gaps is worth more than none.
func Collect(root fs.FS, architecture string) protocol.HostInventory {
	t := tree{root}
	return protocol.HostInventory{
		Board:       t.board(),
		CPU:         t.cpu(architecture),
		MemoryBytes: memory(t.text("proc/meminfo")),
		Interfaces:  t.interfaces(),
		Disks:       t.disks(),
	}
}

// tree is a root file system.
type tree struct{ root fs.FS }

// text is the content of a file; empty if it cannot be read.
func (t tree) text(name string) string {
	f, err := t.root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "" // as carrier and speed of an interface that is down (EINVAL)
	}
	return string(raw)
}

// line is the content of a file of one line, as an inventory may have it.
func (t tree) line(name string) string { return protocol.CleanHostText(t.text(name)) }

// number is the decimal number in a file; 0 if there is none.
func (t tree) number(name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(t.text(name)))
	if err != nil {
		return 0
	}
	return n
}

// names are the names in a folder, sorted; none if it cannot be read.
func (t tree) names(folder string) (out []string) {
	entries, err := fs.ReadDir(t.root, folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}

// link is where a symbolic link leads to, as it is written; empty if it is none.
func (t tree) link(name string) string {
	to, err := fs.ReadLink(t.root, name)
	if err != nil {
		return ""
	}
	return to
}

func (t tree) there(name string) bool {
	_, err := fs.Stat(t.root, name)
	return err == nil
}

// driver is the kernel's driver of a device's folder.
func (t tree) driver(device string) string {
	to := t.link(path.Join(device, "driver"))
	if to == "" {
		return ""
	}
	return protocol.CleanHostText(path.Base(to))
}

// pciAddress is domain, bus, device and function.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pciOf is the PCI address of the device nearest to the end of a path below
// /sys/devices; empty if there is none.
func pciOf(device string) string {
	found := ""
	for part := range strings.SplitSeq(device, "/") {
		if pciAddress.MatchString(part) {
			found = part
		}
	}
	return found
}
