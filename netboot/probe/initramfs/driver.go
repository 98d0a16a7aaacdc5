package initramfs

import "rackboot/protocol"

// drivers are the modules of network cards and disks that servers have, in the order
// to load them in.
var drivers = []string{
	"virtio_pci", "virtio_net", "virtio_blk", "virtio_scsi",
	"e1000e", "igb", "igc", "ixgbe", "i40e", "ice", "tg3", "bnx2x", "bnxt_en", "mlx4_en", "mlx5_core", "qede", "be2net", "cxgb4", "enic",
	"sfc", "ionic", "atlantic", "r8169", "ena", "vmxnet3", "hv_netvsc",
	"ahci", "nvme", "megaraid_sas", "mpt3sas", "smartpqi", "hpsa", "aacraid", "mpi3mr", "mvsas", "isci", "sd_mod", "usb_storage", "uas", "xhci_pci",
	"ipv6",
}

// Drivers finds those of the usual network cards and disks that are below a folder; the
// kernel has the others built in, or does not have them. That there is none is an error.
func Drivers(dir string) ([]Module, error) {
	found, err := find(dir, true, drivers)
	if err == nil && len(found) == 0 {
		err = protocol.Errorf(protocol.CodeNotFound, "find kernel modules", "no driver below %s", dir).WithHint("give the folder lib/modules/RELEASE of the kernel")
	}
	return found, err
}
