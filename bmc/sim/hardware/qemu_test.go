package hardware

import (
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// Each row: which device gets the only bootindex, and whether PXE is on.
func TestQEMUCommandLine(t *testing.T) {
	full := QEMUConfig{Dir: "/run/m1", Code: "/fw/code.fd", Disk: "/run/m1/disk", Tap: "tap1", MAC: "52:54:00:00:00:01", UUID: "11111111-2222-3333-4444-555555555555"}
	bare := QEMUConfig{Dir: "/run/m1", Code: "/fw/code.fd"}
	const nic = "virtio-net-pci,id=nic0,netdev=net0,mac=52:54:00:00:00:01,romfile="
	const disk = "virtio-blk-pci,id=disk0,drive=hd"
	const stop = "virtio-blk-pci,id=stop0,drive=blank"
	const scsi, cd = "virtio-scsi-pci,id=scsi0", "scsi-cd,id=cd"
	tests := []struct {
		name    string
		config  QEMUConfig
		target  protocol.BootTarget
		devices []string
		pxe     string
		cds     []string
	}{
		{"network by HTTP", full, protocol.TargetUefiHTTP, []string{stop, nic + ",bootindex=0", disk}, "n", nil},
		{"network by PXE", full, protocol.TargetPxe, []string{stop, nic + ",bootindex=0", disk}, "y", nil},
		{"disk", full, protocol.TargetHdd, []string{stop, nic, disk + ",bootindex=0"}, "n", nil},
		{"no override", full, protocol.TargetNone, []string{stop + ",bootindex=0", nic, disk}, "n", nil},
		{"disk without a disk", bare, protocol.TargetHdd, []string{stop + ",bootindex=0"}, "n", nil},
		{"network without a network", bare, protocol.TargetUefiHTTP, []string{stop + ",bootindex=0"}, "n", nil},
		{"two drives", bare, protocol.TargetCd, []string{stop, scsi, cd + "0,bus=scsi0.0,drive=cd0m,bootindex=0", cd + "1,bus=scsi0.0,drive=cd1m,bootindex=1"}, "n", []string{"/a.iso", "/b.iso"}},
		{"a drive, and the disk", full, protocol.TargetHdd, []string{stop, nic, disk + ",bootindex=0", scsi, cd + "0,bus=scsi0.0,drive=cd0m"}, "n", []string{"/a.iso"}},
		{"no medium", bare, "UsbCd", []string{stop + ",bootindex=0"}, "n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.config.args(tt.target, tt.cds)
			if got := values(args, "-device"); !slices.Equal(got, tt.devices) {
				t.Errorf("devices\n%q, want\n%q", got, tt.devices)
			}
			if got := values(args, "-fw_cfg")[0]; got != "name=opt/org.tianocore/IPv4PXESupport,string="+tt.pxe {
				t.Errorf("fw_cfg %q", got)
			}
		})
	}
	got := strings.Join(full.args(protocol.TargetUefiHTTP, nil), " ")
	const want = "-accel tcg -M q35 -m 512 -smp 1 -nodefaults -display none -serial file:/run/m1/serial.log -qmp unix:/run/m1/qmp" +
		" -drive if=pflash,format=raw,unit=0,readonly=on,file=/fw/code.fd -drive if=pflash,format=raw,unit=1,file=/run/m1/vars.fd" +
		" -fw_cfg name=opt/org.tianocore/IPv4PXESupport,string=n -fw_cfg name=opt/org.tianocore/IPv6PXESupport,string=n" +
		" -drive if=none,id=blank,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=1048576 -device virtio-blk-pci,id=stop0,drive=blank" +
		" -uuid 11111111-2222-3333-4444-555555555555" +
		" -netdev tap,id=net0,ifname=tap1,script=no,downscript=no -device virtio-net-pci,id=nic0,netdev=net0,mac=52:54:00:00:00:01,romfile=,bootindex=0" +
		" -drive if=none,id=hd,format=raw,file=/run/m1/disk -device virtio-blk-pci,id=disk0,drive=hd"
	if got != want {
		t.Errorf("command line\n%s, want\n%s", got, want)
	}
}

func values(args []string, flag string) []string {
	var out []string
	for i := range len(args) - 1 {
		if args[i] == flag {
			out = append(out, args[i+1])
		}
	}
	return out
}

// Firmware that verifies needs system management mode, and variables that only it writes.
func TestQEMUSecureBoot(t *testing.T) {
	for _, secure := range []bool{false, true} {
		args := strings.Join(QEMUConfig{Dir: "/run/m1", SecureBoot: secure}.args(protocol.TargetNone, nil), " ")
		for _, want := range []string{"-M q35,smm=on ", "-global driver=cfi.pflash01,property=secure,value=on"} {
			if strings.Contains(args, want) != secure {
				t.Errorf("%t: %s", secure, args)
			}
		}
	}
}

// Firmware trusts nobody for HTTPS boot that it was not given.
func TestQEMUAuthorities(t *testing.T) {
	for list, want := range map[string]bool{"/run/m1/ca.esl": true, "": false} {
		args := QEMUConfig{Dir: "/run/m1", Authorities: list}.args(protocol.TargetUefiHTTP, nil)
		if got := slices.Contains(values(args, "-fw_cfg"), "name=etc/edk2/https/cacerts,file="+list); got != want {
			t.Errorf("%q: %q", list, args)
		}
	}
}
