package ignition

// sectorsPerMiB is of sectors of 512 bytes. Specification 2 counts in the disk's own
// logical sectors, which are 4096 bytes on a few disks; no stub says on which.
const sectorsPerMiB = 2048

// maxPartitions is how many entries a GUID partition table has room for as it is made by
// sgdisk (UEFI 2.10 §5.3.2: at least 16 KiB of entries of 128 bytes).
const maxPartitions = 128

// judgeDisks writes sizes in sectors as MiB.
func (s *source) judgeDisks() {
	for i := range s.stub.Storage.Disks {
		d := &s.stub.Storage.Disks[i]
		at := "$.storage.disks[" + itoa(i) + "].partitions"
		if len(d.Partitions) > maxPartitions {
			s.refuse(Invalid, at, "has more than 128 partitions")
			return
		}
		for j := range d.Partitions {
			s.judgePartition(&d.Partitions[j], at+"["+itoa(j)+"]")
		}
	}
}

func (s *source) judgePartition(p *partition2, at string) {
	if (p.Size != nil || p.Start != nil) && (p.SizeMiB != nil || p.StartMiB != nil) {
		s.refuse(Invalid, at, "has sectors and MiB")
		return
	}
	inMiB := func(sectors *int, field string) *int {
		if sectors == nil {
			return nil
		}
		switch {
		case *sectors < 0:
			s.refuse(Invalid, at+field, "is negative")
		case *sectors%sectorsPerMiB != 0:
			s.refuse(Deprecated, at+field, "is in sectors of 512 bytes, and no whole number of MiB, in which specification 3 counts")
		}
		return new(*sectors / sectorsPerMiB)
	}
	if p.Size != nil || p.Start != nil {
		p.SizeMiB, p.StartMiB = inMiB(p.Size, ".size"), inMiB(p.Start, ".start")
	}
	if s.minor >= 3 {
		return
	}
	// Before 2.3 a partition was always made as it is written: where nothing is said, as
	// large as possible and at the largest free place, and without a name. Since then
	// nothing said fits what is there.
	if p.SizeMiB == nil {
		p.SizeMiB = new(0)
	}
	if p.StartMiB == nil {
		p.StartMiB = new(0)
	}
	if p.Label != nil && *p.Label == "" && p.Number != 0 {
		p.Label = nil
	}
	if p.Label == nil && p.Number == 0 {
		p.Label = new("")
	}
}
