package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Wire numbers of PE images (Microsoft PE and COFF specification).
const (
	dosSize       = 0x40
	dosOffsetOfPE = 0x3c // e_lfanew
	coffSize      = 20
	sectionSize   = 40
	pe32Plus      = 0x20b
	offsetOfSub   = 68 // in the optional header
	subsystemEFI  = 10 // IMAGE_SUBSYSTEM_EFI_APPLICATION
	maxSections   = 96 // what Windows' loader takes; firmware takes no more either

	machineAMD64 = 0x8664
	machineARM64 = 0xaa64
	machineI386  = 0x014c
	machineARM   = 0x01c2
	machineRISCV = 0x5064
)

// architectureOf is the word for a machine type of PE; a number if there is none.
func architectureOf(machine uint16) string {
	switch machine {
	case machineAMD64:
		return "amd64"
	case machineARM64:
		return "arm64"
	case machineI386:
		return "386"
	case machineARM:
		return "arm"
	case machineRISCV:
		return "riscv64"
	}
	return fmt.Sprintf("machine type %#04x", machine)
}

// portable is what is read of a PE image's headers.
type portable struct {
	machine  uint16
	efi      bool // an application for EFI
	sections []section
}

type section struct {
	name string
	end  int64 // of its data in the file
}

// parsePE reads the headers at the beginning of a PE image. The error says what is wrong
// in words that follow "it".
func parsePE(head []byte) (portable, error) {
	var p portable
	if len(head) < dosSize || !bytes.HasPrefix(head, []byte("MZ")) {
		return p, fmt.Errorf("is no PE image")
	}
	le := binary.LittleEndian
	at := uint64(le.Uint32(head[dosOffsetOfPE:]))
	if at+4+coffSize > uint64(len(head)) {
		return p, fmt.Errorf("has its PE header at byte %d, beyond the first %d", at, len(head))
	}
	if !bytes.HasPrefix(head[at:], []byte("PE\x00\x00")) {
		return p, fmt.Errorf("is no PE image: it begins as a DOS program")
	}
	coff := head[at+4:]
	p.machine = le.Uint16(coff)
	count, optional := int(le.Uint16(coff[2:])), int(le.Uint16(coff[16:]))
	if count > maxSections {
		return p, fmt.Errorf("has %d sections; firmware takes %d", count, maxSections)
	}
	rest := coff[coffSize:]
	if len(rest) < optional+count*sectionSize {
		return p, fmt.Errorf("has its section table beyond the first %d bytes, or is cut off", len(head))
	}
	if optional >= offsetOfSub+2 {
		p.efi = le.Uint16(rest) == pe32Plus && le.Uint16(rest[offsetOfSub:]) == subsystemEFI
	}
	for table := rest[optional:]; len(p.sections) < count; table = table[sectionSize:] {
		p.sections = append(p.sections, section{
			name: string(bytes.TrimRight(table[:8], "\x00")),
			end:  int64(le.Uint32(table[16:])) + int64(le.Uint32(table[20:])),
		})
	}
	return p, nil
}

// has says whether there is a section of that name.
func (p portable) has(name string) bool {
	return slices.ContainsFunc(p.sections, func(s section) bool { return s.name == name })
}

// names are the sections', as they can be shown.
func (p portable) names() string {
	var out []string
	for _, s := range p.sections {
		out = append(out, fmt.Sprintf("%q", s.name))
	}
	return strings.Join(out, " ")
}

// check holds a PE image of so many bytes against the architecture.
func (p portable) check(arch string, size int64) error {
	if got := architectureOf(p.machine); got != arch {
		return fmt.Errorf("is for %s, and the server is %s", got, arch)
	}
	if !p.efi {
		return fmt.Errorf("is a PE image that is no EFI application of 64 bits")
	}
	for _, s := range p.sections {
		if s.end > size {
			return fmt.Errorf("is cut off: section %q ends at byte %d of %d", s.name, s.end, size)
		}
	}
	return nil
}

// checkUKI says whether the beginning of a file is that of a unified kernel image (UAPI
// group specification 5): a PE image for EFI with a kernel in section .linux. All other
// sections may lack, .initrd, .osrel and .cmdline among them.
func checkUKI(head []byte, arch string, size int64) error {
	p, err := parsePE(head)
	if err != nil {
		return err
	}
	if !p.has(".linux") {
		return fmt.Errorf("is an EFI program and no UKI: it has no section .linux, only %s", p.names())
	}
	return p.check(arch, size)
}

// checkKernel says whether the beginning of a file is that of a Linux kernel that boot
// loaders start: bzImage for amd64, Image for arm64, or any with an EFI stub, as the
// compressed ones of arm64 are (EFI_ZBOOT).
func checkKernel(head []byte, arch string, size int64) error {
	if bz := bzImage(head); bz != "" && bz != arch {
		return fmt.Errorf("is a bzImage for %s, and the server is %s", bz, arch)
	} else if bz != "" {
		return nil
	}
	if arm := len(head) >= armMagic+4 && string(head[armMagic:armMagic+4]) == "ARM\x64"; arm && arch != "arm64" {
		return fmt.Errorf("is a kernel for arm64, and the server is %s", arch)
	} else if arm {
		return nil
	}
	if !bytes.HasPrefix(head, []byte("MZ")) {
		return fmt.Errorf("is no kernel: it begins like %s", looksLike(head))
	}
	p, err := parsePE(head)
	if err != nil {
		return err
	}
	return p.check(arch, size)
}

// Places in kernels (Linux, Documentation/arch/x86/boot.rst and arm64/booting.rst).
const (
	bzFlag      = 0x1fe // 0xaa55
	bzMagic     = 0x202 // "HdrS"
	bzVersion   = 0x206
	bzXLoad     = 0x236
	bzXLoadFrom = 0x020c // the protocol that has xloadflags
	bz64        = 1      // XLF_KERNEL_64
	armMagic    = 0x38   // "ARM\x64"
)

// bzImage is the architecture of a bzImage; empty if it is none.
func bzImage(head []byte) string {
	le := binary.LittleEndian
	if len(head) < bzXLoad+2 || le.Uint16(head[bzFlag:]) != 0xaa55 || string(head[bzMagic:bzMagic+4]) != "HdrS" {
		return ""
	}
	if le.Uint16(head[bzVersion:]) >= bzXLoadFrom && le.Uint16(head[bzXLoad:])&bz64 == 0 {
		return "386"
	}
	return "amd64"
}

// checkInitramfs says whether the beginning of a file is that of an initramfs: a cpio
// archive of the kernel's form, or of what the kernel decompresses (Linux,
// lib/decompress.c).
func checkInitramfs(head []byte) error {
	for _, magic := range []string{
		"070701", "070702", "\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "\x5d\x00\x00", "\x89LZO", "\x02\x21\x4c\x18", "\x04\x22\x4d\x18",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil
		}
	}
	return fmt.Errorf("is no initramfs, neither a cpio archive nor a compressed one: it begins like %s", looksLike(head))
}

// checkSquashfs says whether a file begins as a squashfs does.
func checkSquashfs(head []byte) error {
	if bytes.HasPrefix(head, []byte("hsqs")) {
		return nil
	}
	return fmt.Errorf("is no squashfs: it begins like %s", looksLike(head))
}

// looksLike names what people put in place of the right file.
func looksLike(head []byte) string {
	for magic, what := range map[string]string{
		"\x7fELF": "an ELF file, as vmlinux is", "MZ": "an EFI or DOS program", "\x1f\x8b": "a file that gzip compressed",
		"\x28\xb5\x2f\xfd": "a file that zstd compressed", "\xfd7zXZ\x00": "a file that xz compressed", "hsqs": "a squashfs",
		"070701": "a cpio archive", "QFI\xfb": "a qcow2 disk", "PK": "a zip archive", "<": "HTML or XML", "{": "JSON", "#!": "a script",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return what
		}
	}
	if len(head) == 0 {
		return "nothing at all"
	}
	return fmt.Sprintf("%q", head[:min(len(head), 8)])
}

// inspect says whether the beginning of an artefact is what its kind says. The error
// says what it is in words that follow "it".
func inspect(a resource.Artefact, head []byte, arch string) error {
	switch a.Kind {
	case resource.ArtefactUKI:
		return checkUKI(head, arch, a.Size)
	case resource.ArtefactKernel:
		return checkKernel(head, arch, a.Size)
	case resource.ArtefactInitramfs:
		return checkInitramfs(head)
	case resource.ArtefactSquashfs:
		return checkSquashfs(head)
	case resource.ArtefactISO: // see inspectISO
	}
	return nil
}
