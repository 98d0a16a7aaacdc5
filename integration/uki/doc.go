// Package uki builds what the firmware tests boot: a unified kernel image, and a disk
// image whose EFI system partition holds one. It calls objcopy, sfdisk, mkfs.vfat and
// the mtools.
package uki
