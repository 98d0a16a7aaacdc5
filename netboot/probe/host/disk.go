package host

import (
	"path"
	"strconv"
	"strings"

	"rackboot/protocol"
)

const (
	// sector is the unit of /sys/block/*/size, whatever the disk's own is.
	sector = 512
	// serialPage is the header of the SCSI page with the serial number (SPC, VPD page
	// 80h), in bytes.
	serialPage = 4
)

// disks reads the block devices that have a device and a size: no loop devices, no
// RAID or mapper devices, no drives for CDs and floppies.
func (t tree) disks() (out []protocol.HostDisk) {
	for _, name := range t.names("sys/block") {
		at := path.Join("sys/block", name)
		if strings.HasPrefix(name, "sr") || strings.HasPrefix(name, "fd") || !t.there(at+"/device") || !protocol.HostText(name) ||
			t.line(at+"/hidden") == "1" { // one of several paths to an NVMe namespace
			continue
		}
		sectors, err := strconv.ParseUint(strings.TrimSpace(t.text(at+"/size")), 10, 44)
		if err != nil || sectors == 0 { // an empty card reader
			continue
		}
		d := protocol.HostDisk{
			Name: name, Model: said(t.line(at + "/device/model")), Serial: said(t.line(at + "/device/serial")), WWN: t.wwn(at),
			Bytes: sectors * sector, Rotational: t.line(at+"/queue/rotational") == "1", Transport: transport(name, t.link(at)),
		}
		if d.Serial == "" {
			d.Serial = said(t.line(at + "/serial")) // virtio
		}
		if page := t.text(at + "/device/vpd_pg80"); d.Serial == "" && len(page) > serialPage {
			d.Serial = said(protocol.CleanHostText(page[serialPage:]))
		}
		if out = append(out, d); len(out) == protocol.MaxHostDisks {
			break
		}
	}
	return out
}

// wwn is the disk's World Wide Name. What SCSI makes of vendor and serial number of a
// disk that has none ("t10.ATA ...") is no name.
func (t tree) wwn(at string) string {
	for _, name := range []string{at + "/wwid", at + "/device/wwid"} {
		s := t.line(name)
		for _, form := range []string{"naa.", "eui.", "nvme.", "uuid."} {
			if strings.HasPrefix(s, form) {
				return s
			}
		}
	}
	return ""
}

// transport is what a disk is attached by, from its path below /sys/devices.
func transport(name, device string) string {
	if strings.HasPrefix(name, "nvme") {
		return "nvme"
	}
	for part := range strings.SplitSeq(device, "/") {
		for prefix, is := range map[string]string{
			"ata": "sata", "usb": "usb", "virtio": "virtio", "end_device-": "sas", "mmc_host": "mmc", "rport-": "fc", "session": "iscsi",
		} {
			if strings.HasPrefix(part, prefix) {
				return is
			}
		}
	}
	return ""
}
