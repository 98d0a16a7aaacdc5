package uki

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Config is what goes into a unified kernel image.
type Config struct {
	Stub      string // systemd's linuxx64.efi.stub
	Kernel    string
	Initramfs string
	Cmdline   string
}

// Addresses of the sections. The stub of systemd 252 ends below the first; Linux
// gets 32 MiB.
const (
	addrOSRelease = 0x20000
	addrCmdline   = 0x30000
	addrLinux     = 0x2000000
	addrInitrd    = 0x4000000
	maxLinux      = addrInitrd - addrLinux
)

// Build writes the image to a file (UAPI group, Unified Kernel Image).
func Build(ctx context.Context, c Config, to string) error {
	info, err := os.Stat(c.Kernel)
	if err != nil {
		return err
	}
	if info.Size() > maxLinux {
		return fmt.Errorf("kernel %s has %d bytes; there is room for %d", c.Kernel, info.Size(), maxLinux)
	}
	release, cmdline := to+".osrel", to+".cmdline"
	defer func() { _, _ = os.Remove(release), os.Remove(cmdline) }() // they are in the image
	if err := os.WriteFile(release, []byte("ID=rackboot-test\nNAME=\"Rackboot test\"\n"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(cmdline, []byte(c.Cmdline), 0o600); err != nil {
		return err
	}
	args := []string{}
	for _, s := range []struct {
		name, file string
		address    int
	}{
		{".osrel", release, addrOSRelease},
		{".cmdline", cmdline, addrCmdline},
		{".linux", c.Kernel, addrLinux},
		{".initrd", c.Initramfs, addrInitrd},
	} {
		args = append(args, "--add-section", s.name+"="+s.file, "--change-section-vma", fmt.Sprintf("%s=%#x", s.name, s.address))
	}
	return run(ctx, filepath.Dir(to), "objcopy", append(args, c.Stub, to)...)
}

// run runs a tool in a folder; the error says what it printed.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}
