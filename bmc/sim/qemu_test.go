package sim

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

const (
	ovmfCode = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	ovmfVars = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

func newTestQEMU(t *testing.T) *QEMU {
	t.Helper()
	if _, err := exec.LookPath(qemuBinary); err != nil {
		t.Skip("QEMU is not installed (Debian package qemu-system-x86)")
	}
	if _, err := os.Stat(ovmfCode); err != nil {
		t.Skip("OVMF is not installed (Debian package ovmf)")
	}
	dir, err := os.MkdirTemp("", "m") // t.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	disk := filepath.Join(dir, "disk")
	if err := os.WriteFile(disk, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := NewQEMU(QEMUConfig{Dir: dir, Code: ovmfCode, Vars: ovmfVars, Disk: disk, Post: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// QEMU starts, takes the power button and new bootindexes, and is gone after
// PowerOff.
func TestQEMUStartsAndStops(t *testing.T) {
	m := newTestQEMU(t)
	board := &recordingBoard{next: protocol.TargetHdd}
	if err := m.PowerOn(board); err != nil {
		t.Fatal(err)
	}
	if protocol.CodeOf(m.PowerOn(board)) != protocol.CodeConflict {
		t.Error("a second power-on is accepted")
	}
	board.await(t, "consumed Hdd")
	if err := m.Shutdown(); err != nil {
		t.Error(err)
	}
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if err := m.express(p, protocol.TargetNone); err != nil {
		t.Error(err)
	}
	if err := m.PowerOff(); err != nil {
		t.Fatal(err)
	}
	if s := m.State(); s != MachineOff {
		t.Errorf("state is %s", s)
	}
	if p.cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	board.await(t, "off")
	if err := m.PowerOn(board); err != nil {
		t.Fatalf("second power-on: %v", err)
	}
}

// A guest's own reset: the next boot follows the override as it is then.
func TestQEMUGuestReset(t *testing.T) {
	m := newTestQEMU(t)
	board := &recordingBoard{next: protocol.TargetHdd}
	if err := m.PowerOn(board); err != nil {
		t.Fatal(err)
	}
	board.await(t, "consumed Hdd")
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	p.qmp.resets <- resetEvent{Guest: true}
	board.await(t, "consumed None")
	if got := p.expressed(); got != protocol.TargetNone {
		t.Errorf("bootindexes express %s", got)
	}
}

func TestQEMUThatDoesNotStart(t *testing.T) {
	m := newTestQEMU(t)
	m.config.Code = filepath.Join(m.config.Dir, "missing")
	err := m.PowerOn(&recordingBoard{})
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "missing") {
		t.Fatalf("error is %v", err)
	}
	if m.State() != MachineOff {
		t.Errorf("state is %s", m.State())
	}
}
