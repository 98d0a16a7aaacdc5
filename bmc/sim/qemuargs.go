package sim

import (
	"path/filepath"
	"strconv"

	"rackboot/protocol"
)

// QEMU device ids.
const (
	deviceNIC  = "nic0"
	deviceDisk = "disk0"
	deviceStop = "stop0" // blank, cannot boot: OVMF goes on to the EFI shell
)

func (c QEMUConfig) vars() string   { return filepath.Join(c.Dir, "vars.fd") }
func (c QEMUConfig) socket() string { return filepath.Join(c.Dir, "qmp") }

// bootDevice is the only device that gets a bootindex for a target.
func (c QEMUConfig) bootDevice(target protocol.BootTarget) string {
	switch {
	case (target == protocol.TargetUefiHTTP || target == protocol.TargetPxe) && c.Tap != "":
		return deviceNIC
	case target == protocol.TargetHdd && c.Disk != "":
		return deviceDisk
	default:
		return deviceStop
	}
}

// devices are the ids of the devices that a bootindex can be given to.
func (c QEMUConfig) devices() []string {
	out := []string{deviceStop}
	if c.Tap != "" {
		out = append(out, deviceNIC)
	}
	if c.Disk != "" {
		out = append(out, deviceDisk)
	}
	return out
}

// args is QEMU's command line for a boot from the target.
func (c QEMUConfig) args(target protocol.BootTarget) []string {
	index := func(device string) string {
		if c.bootDevice(target) == device {
			return ",bootindex=0"
		}
		return ""
	}
	// OVMF tries PXE before HTTP on the same NIC, which costs a minute.
	pxe := "n"
	if target == protocol.TargetPxe {
		pxe = "y"
	}
	args := []string{
		"-accel", "tcg", "-M", "q35", "-m", "512", "-smp", "1",
		"-nodefaults", "-display", "none",
		"-serial", "file:" + filepath.Join(c.Dir, "serial.log"),
		"-qmp", "unix:" + c.socket(),
		"-drive", "if=pflash,format=raw,unit=0,readonly=on,file=" + c.Code,
		"-drive", "if=pflash,format=raw,unit=1,file=" + c.vars(),
		"-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=" + pxe,
		"-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n",
		"-drive", "if=none,id=blank,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=" + strconv.Itoa(1<<20),
		"-device", "virtio-blk-pci,id=" + deviceStop + ",drive=blank" + index(deviceStop),
	}
	if c.UUID != "" {
		args = append(args, "-uuid", c.UUID)
	}
	if c.Tap != "" {
		// An empty romfile keeps QEMU's iPXE away: the firmware's own stack boots.
		args = append(args,
			"-netdev", "tap,id=net0,ifname="+c.Tap+",script=no,downscript=no",
			"-device", "virtio-net-pci,id="+deviceNIC+",netdev=net0,mac="+c.MAC+",romfile="+index(deviceNIC))
	}
	if c.Disk != "" {
		args = append(args,
			"-drive", "if=none,id=hd,format=raw,file="+c.Disk,
			"-device", "virtio-blk-pci,id="+deviceDisk+",drive=hd"+index(deviceDisk))
	}
	return args
}
