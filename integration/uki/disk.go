package uki

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	mebibyte = 1 << 20
	// espStart leaves room for the first partition table, espEnd for the second.
	espStart = mebibyte
	espEnd   = mebibyte
)

// Disk writes a raw disk image of a size in MiB: a GPT with one EFI system
// partition, on which the loader is where firmware looks for one on a disk that it
// does not know (UEFI 2.10 section 3.5.1.1).
func Disk(ctx context.Context, loader string, sizeMiB int64, to string) error {
	esp := to + ".esp"
	defer os.Remove(esp) // it is in the image
	size := sizeMiB * mebibyte
	for path, n := range map[string]int64{to: size, esp: size - espStart - espEnd} {
		if err := sparse(path, n); err != nil {
			return err
		}
	}
	dir := filepath.Dir(to)
	if err := run(ctx, dir, "mkfs.vfat", "-n", "ESP", "-i", "52424f54", esp); err != nil {
		return err
	}
	if err := run(ctx, dir, "mmd", "-i", esp, "::EFI", "::EFI/BOOT"); err != nil {
		return err
	}
	if err := run(ctx, dir, "mcopy", "-i", esp, loader, "::EFI/BOOT/BOOTX64.EFI"); err != nil {
		return err
	}
	const sector = 512
	table := exec.CommandContext(ctx, "sfdisk", "--quiet", to)
	table.Stdin = strings.NewReader(fmt.Sprintf("label: gpt\nstart=%d, size=%d, type=uefi\n", espStart/sector, (size-espStart-espEnd)/sector))
	if out, err := table.CombinedOutput(); err != nil {
		return fmt.Errorf("sfdisk: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return copyInto(to, espStart, esp)
}

// sparse makes a file that reads as zeros.
func sparse(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func copyInto(path string, offset int64, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(dst, offset), src)
	return errors.Join(err, dst.Close())
}
