package hardware

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"rackboot/protocol"
)

// QEMU device ids.
const (
	deviceNIC  = "nic0"
	deviceDisk = "disk0"
	deviceStop = "stop0" // blank, cannot boot: OVMF goes on to the EFI shell
	deviceCD   = "cd"    // and a number: a virtual drive
)

func (c QEMUConfig) vars() string   { return filepath.Join(c.Dir, "vars.fd") }
func (c QEMUConfig) socket() string { return filepath.Join(c.Dir, "qmp") }

// bootDevices are the devices that get a bootindex for a target, in this order. Firmware
// passes over a CD drive whose medium boots nothing.
func (c QEMUConfig) bootDevices(target protocol.BootTarget, cds int) []string {
	switch {
	case IsMedium(target) && cds > 0:
		return cdDevices(cds)
	case (target == protocol.TargetUefiHTTP || target == protocol.TargetPxe) && c.Tap != "":
		return []string{deviceNIC}
	case target == protocol.TargetHdd && c.Disk != "":
		return []string{deviceDisk}
	default:
		return []string{deviceStop}
	}
}

func cdDevices(cds int) (out []string) {
	for n := range cds {
		out = append(out, deviceCD+strconv.Itoa(n))
	}
	return out
}

// devices are the ids of the devices that a bootindex can be given to.
func (c QEMUConfig) devices(cds int) []string {
	out := append([]string{deviceStop}, cdDevices(cds)...)
	if c.Tap != "" {
		out = append(out, deviceNIC)
	}
	if c.Disk != "" {
		out = append(out, deviceDisk)
	}
	return out
}

// args is QEMU's command line for a boot from the target. cds are the files of the images
// in the virtual drives.
func (c QEMUConfig) args(target protocol.BootTarget, cds []string) []string {
	index := func(device string) string {
		if n := slices.Index(c.bootDevices(target, len(cds)), device); n >= 0 {
			return ",bootindex=" + strconv.Itoa(n)
		}
		return ""
	}
	// OVMF tries PXE before HTTP on the same NIC, which costs a minute.
	pxe := "n"
	if target == protocol.TargetPxe {
		pxe = "y"
	}
	board := "q35"
	if c.SecureBoot {
		board += ",smm=on"
	}
	args := []string{
		"-accel", "tcg", "-M", board, "-m", strconv.Itoa(cmp.Or(c.MemoryMiB, 512)), "-smp", "1",
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
	if c.SecureBoot {
		args = append(args, "-global", "driver=cfi.pflash01,property=secure,value=on")
	}
	if c.Authorities != "" {
		args = append(args, "-fw_cfg", "name=etc/edk2/https/cacerts,file="+c.Authorities)
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
	if len(cds) > 0 {
		args = append(args, "-device", "virtio-scsi-pci,id=scsi0")
	}
	for n, file := range cds {
		id := deviceCD + strconv.Itoa(n)
		args = append(args,
			"-drive", "if=none,id="+id+"m,media=cdrom,readonly=on,format=raw,file="+file,
			"-device", "scsi-cd,id="+id+",bus=scsi0.0,drive="+id+"m"+index(id))
	}
	return args
}
