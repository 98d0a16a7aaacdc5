package probe

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"rackboot/netboot/probe/initramfs"
)

// begin makes a process 1 of this program: it mounts what programs need and loads the
// modules. A module that is refused is said and passed over: the next may be enough.
func begin(log *slog.Logger) error {
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) { // the kernel may have mounted /dev
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	if err := unix.Mount("securityfs", "/sys/kernel/security", "securityfs", 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
		log.Warn("no event log of firmware", "err", err) // the kernel has none; the boot is not attested then
	}
	if err := loadModules(log); err != nil {
		return err
	}
	// A machine without a random device never gets ready for those who only poll, as
	// the DHCP library does. To wait makes the kernel gather what is missing.
	_, err := unix.Getrandom(make([]byte, 1), 0)
	return err
}

func loadModules(log *slog.Logger) error {
	list, err := os.Open("/" + initramfs.ModuleList)
	if os.IsNotExist(err) {
		return nil // all are built in
	}
	if err != nil {
		return err
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if err := loadModule(lines.Text()); err != nil && !errors.Is(err, unix.EEXIST) {
			log.Warn("module not loaded", "module", lines.Text(), "err", err)
		}
	}
	return lines.Err()
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FinitModule(int(f.Fd()), "", 0)
}

// powerOff switches the machine off; it returns only if that fails.
func powerOff() error {
	unix.Sync()
	return unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}
