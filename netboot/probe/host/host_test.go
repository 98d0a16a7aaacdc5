package host

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
)

// machine is a tree of files, and of links where the text begins with "-> ".
func machine(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			out[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
			continue
		}
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func merge(trees ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, t := range trees {
		maps.Copy(out, t)
	}
	return out
}

// netDevice is an interface as /sys shows it, with its device at a path below
// /sys/devices.
func netDevice(name, device, driver string, files map[string]string) map[string]string {
	at := "sys/devices/" + device + "/net/" + name
	out := map[string]string{
		"sys/class/net/" + name:                     "-> ../../devices/" + device + "/net/" + name,
		at + "/device":                              "-> ../../../" + device[strings.LastIndex(device, "/")+1:],
		"sys/devices/" + device + "/driver":         "-> " + strings.Repeat("../", strings.Count(device, "/")+2) + "bus/pci/drivers/" + driver,
		"sys/bus/pci/drivers/" + driver + "/uevent": "",
	}
	for k, v := range files {
		out[at+"/"+k] = v
	}
	return out
}

// blockDevice is a disk likewise.
func blockDevice(name, device string, files map[string]string) map[string]string {
	at := "sys/devices/" + device + "/block/" + name
	out := map[string]string{
		"sys/block/" + name: "-> ../devices/" + device + "/block/" + name,
		at + "/device":      "-> ../../../" + device[strings.LastIndex(device, "/")+1:],
	}
	for k, v := range files {
		if rest, ok := strings.CutPrefix(k, "device/"); ok {
			out["sys/devices/"+device+"/"+rest] = v
			continue
		}
		out[at+"/"+k] = v
	}
	return out
}

const xeonLine = "physical id\t: %\nsiblings\t: 2\ncore id\t\t: #\nmodel name\t: Intel(R) Xeon(R)  Gold 6338 CPU @ 2.00GHz\n\n"

func xeons() string {
	var b strings.Builder
	for _, c := range []string{"00", "01", "10", "11", "00", "01", "10", "11"} {
		b.WriteString("processor\t: 0\n" + strings.NewReplacer("%", c[:1], "#", c[1:]).Replace(xeonLine))
	}
	return b.String()
}

// server is a server of two sockets with a bond, SATA, SAS and NVMe disks.
func server() map[string]string {
	return merge(map[string]string{
		"sys/class/dmi/id/sys_vendor": "Dell Inc.\n", "sys/class/dmi/id/product_name": "PowerEdge R650\n",
		"sys/class/dmi/id/product_serial": "4C1QX24\n", "sys/class/dmi/id/product_uuid": "4C4C4544-0031-3510-8031-B4C04F435331\n",
		"sys/class/dmi/id/bios_vendor": "Dell Inc.\n", "sys/class/dmi/id/bios_version": "1.9.2\n", "sys/class/dmi/id/bios_date": "11/17/2025\n",
		"proc/meminfo": "MemTotal:       527990208 kB\nMemFree:        1 kB\n", "proc/cpuinfo": xeons(),
		"proc/net/bonding/bond0": "Ethernet Channel Bonding Driver: v6.1\n\nMII Status: up\n\nSlave Interface: eno1\nMII Status: up\nPermanent HW addr: b4:45:06:00:00:01\n" +
			"\nSlave Interface: eno2\nPermanent HW addr: b4:45:06:00:00:02\n",
		"sys/class/net/bond0": "-> ../../devices/virtual/net/bond0", "sys/devices/virtual/net/bond0/address": "b4:45:06:00:00:01\n", "sys/devices/virtual/net/bond0/carrier": "1\n",
		"sys/class/net/lo": "-> ../../devices/virtual/net/lo", "sys/devices/virtual/net/lo/address": "00:00:00:00:00:00\n",
		"sys/class/net/bonding_masters": "bond0\n",
		"sys/block/loop0":               "-> ../devices/virtual/block/loop0", "sys/devices/virtual/block/loop0/size": "8\n",
		"sys/block/dm-0": "-> ../devices/virtual/block/dm-0", "sys/devices/virtual/block/dm-0/size": "8000\n",
	},
		netDevice("eno1", "pci0000:30/0000:30:02.0/0000:31:00.0", "mlx5_core", map[string]string{"address": "b4:45:06:00:00:01\n", "carrier": "1\n", "speed": "25000\n"}),
		netDevice("eno2", "pci0000:30/0000:30:02.0/0000:31:00.1", "mlx5_core", map[string]string{"address": "b4:45:06:00:00:01\n", "carrier": "0\n", "speed": "-1\n"}),
		blockDevice("sda", "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0", map[string]string{
			"size": "937703088\n", "queue/rotational": "0\n", "device/model": "MTFDDAK480TDS   \n", "device/vpd_pg80": "\x00\x80\x00\x14        21122F5B5E5A", "device/wwid": "naa.500a07512f5b5e5a\n",
		}),
		blockDevice("sdb", "pci0000:98/0000:98:01.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0", map[string]string{
			"size": "15628053168\n", "queue/rotational": "1\n", "device/model": "ST8000NM001A\n", "device/wwid": "t10.ATA     ST8000NM001A  ZA1\n",
		}),
		blockDevice("sr0", "pci0000:00/0000:00:14.0/usb1/1-14/1-14:1.0/host2/target2:0:0/2:0:0:0", map[string]string{"size": "2097151\n"}),
		blockDevice("sdc", "pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0/host3/target3:0:0/3:0:0:0", map[string]string{"size": "0\n"}),
		blockDevice("nvme0n1", "pci0000:c0/0000:c0:01.0/0000:c1:00.0/nvme/nvme0", map[string]string{
			"size": "3750748848\n", "queue/rotational": "0\n", "wwid": "eui.36344830526005390025384100000001\n", "device/model": "SAMSUNG MZQL21T9HCJR-00A07              \n", "device/serial": "S64GNE0R600539      \n",
		}),
		blockDevice("nvme0c0n1", "pci0000:c0/0000:c0:02.0/0000:c2:00.0/nvme/nvme1", map[string]string{"size": "3750748848\n", "hidden": "1\n"}),
	)
}

// guest is a virtual machine on arm64.
func guest() map[string]string {
	files := merge(map[string]string{
		"sys/class/dmi/id/sys_vendor": "QEMU\n", "sys/class/dmi/id/product_name": "KVM Virtual Machine\n", "sys/class/dmi/id/product_serial": "Not Specified\n",
		"sys/class/dmi/id/product_uuid": "00000000-0000-0000-0000-000000000000\n", "proc/meminfo": "MemTotal: 1005000 kB\n",
		"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
		"sys/devices/system/cpu/cpu0/topology/core_id": "0\n", "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
		"sys/devices/system/cpu/cpu1/topology/core_id": "1\n", "sys/devices/system/cpu/cpu1/topology/physical_package_id": "0\n",
		"sys/devices/system/cpu/cpufreq/x": "", "sys/devices/system/cpu/online": "0-1\n",
	},
		netDevice("eth0", "pci0000:00/0000:00:03.0/virtio0", "virtio_net", map[string]string{"address": "52:54:00:00:00:01\n", "carrier": "1\n", "speed": "-1\n"}),
		blockDevice("vda", "pci0000:00/0000:00:04.0/virtio1", map[string]string{"size": "131072\n", "queue/rotational": "1\n", "serial": "disk-1"}),
	)
	return files
}

func TestCollect(t *testing.T) {
	for _, row := range []struct {
		name, arch string
		files      map[string]string
		want       protocol.HostInventory
	}{
		{"a server", "amd64", server(), protocol.HostInventory{
			Board: protocol.Board{
				Vendor: "Dell Inc.", Product: "PowerEdge R650", Serial: "4C1QX24", UUID: "4c4c4544-0031-3510-8031-b4c04f435331",
				BIOSVendor: "Dell Inc.", BIOSVersion: "1.9.2", BIOSDate: "11/17/2025",
			},
			CPU:         protocol.HostCPU{Model: "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", Architecture: "amd64", Sockets: 2, Cores: 4, Threads: 8},
			MemoryBytes: 527990208 << 10,
			Interfaces: []protocol.HostInterface{
				{Name: "eno1", MAC: "b4:45:06:00:00:01", Link: true, SpeedMbps: 25000, Driver: "mlx5_core", PCI: "0000:31:00.0"},
				{Name: "eno2", MAC: "b4:45:06:00:00:01", PermanentMAC: "b4:45:06:00:00:02", Driver: "mlx5_core", PCI: "0000:31:00.1"},
			},
			Disks: []protocol.HostDisk{
				{Name: "nvme0n1", Model: "SAMSUNG MZQL21T9HCJR-00A07", Serial: "S64GNE0R600539", WWN: "eui.36344830526005390025384100000001", Bytes: 3750748848 * 512, Transport: "nvme"},
				{Name: "sda", Model: "MTFDDAK480TDS", Serial: "21122F5B5E5A", WWN: "naa.500a07512f5b5e5a", Bytes: 937703088 * 512, Transport: "sata"},
				{Name: "sdb", Model: "ST8000NM001A", Bytes: 15628053168 * 512, Rotational: true, Transport: "sas"},
			},
		}},
		{"a virtual machine on arm64", "arm64", guest(), protocol.HostInventory{
			Board: protocol.Board{Vendor: "QEMU", Product: "KVM Virtual Machine"},
			CPU:   protocol.HostCPU{Model: "Arm Neoverse-N1", Architecture: "arm64", Sockets: 1, Cores: 2, Threads: 2}, MemoryBytes: 1005000 << 10,
			Interfaces: []protocol.HostInterface{{Name: "eth0", MAC: "52:54:00:00:00:01", Link: true, Driver: "virtio_net", PCI: "0000:00:03.0"}},
			Disks:      []protocol.HostDisk{{Name: "vda", Serial: "disk-1", Bytes: 131072 * 512, Rotational: true, Transport: "virtio"}},
		}},
		{"a board without SMBIOS", "arm64", map[string]string{
			"sys/firmware/devicetree/base/model": "SolidRun HoneyComb\x00", "sys/firmware/devicetree/base/serial-number": "0042\x00",
		}, protocol.HostInventory{Board: protocol.Board{Product: "SolidRun HoneyComb", Serial: "0042"}, CPU: protocol.HostCPU{Architecture: "arm64"}}},
		{"nothing at all", "amd64", map[string]string{"x": ""}, protocol.HostInventory{CPU: protocol.HostCPU{Architecture: "amd64"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Collect(machine(row.files), row.arch)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
			r := protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &got}
			if wrong := r.Validate(); len(wrong) > 0 {
				t.Errorf("the agent would refuse it: %v", wrong)
			}
		})
	}
}

func TestUUID(t *testing.T) {
	for in, want := range map[string]string{
		"4C4C4544-0031-3510-8031-B4C04F435331": "4c4c4544-0031-3510-8031-b4c04f435331",
		"00000000-0000-0000-0000-000000000000": "", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF": "",
		"03000200-0400-0500-0006-000700080009": "", "Not Settable": "", "": "",
	} {
		if got := uuid(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// FuzzCollect: whatever the files say, the agent takes the inventory.
func FuzzCollect(f *testing.F) {
	f.Add(xeons(), "Dell Inc.\n", "MemTotal: 1 kB", "02:00:00:00:00:01\n", "25000\n", "naa.5\n")
	f.Add("processor:\ncore id: 1\nphysical id: 0\ncore id: \xff", "\x1b[0m", "MemTotal: -1 kB", "01:00:00:00:00:01", "999999999999", strings.Repeat("x", 300))
	f.Fuzz(func(t *testing.T, cpu, text, mem, mac, number, wwn string) {
		files := merge(guest(), map[string]string{
			"proc/cpuinfo": cpu, "sys/class/dmi/id/sys_vendor": text, "sys/class/dmi/id/product_uuid": text, "proc/meminfo": mem, "proc/net/bonding/b": text,
			"sys/devices/pci0000:00/0000:00:03.0/virtio0/net/eth0/address": mac, "sys/devices/pci0000:00/0000:00:03.0/virtio0/net/eth0/speed": number,
			"sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda/size": number, "sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda/wwid": wwn,
		})
		got := Collect(machine(files), "amd64")
		if len(cpu) > 1<<20 {
			return // more processors than there are
		}
		r := protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &got}
		if wrong := r.Validate(); len(wrong) > 0 {
			t.Error(wrong)
		}
	})
}
