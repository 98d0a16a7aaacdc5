package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// moduleList names the modules in the initramfs in the order to load them in.
const moduleList = "/modules/list"

// begin mounts what a program needs and loads the modules.
func begin() error {
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	list, err := os.Open(moduleList)
	if err != nil {
		return err
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if err := load(lines.Text()); err != nil {
			return fmt.Errorf("load module %s: %w", lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	// A machine without a random device never gets ready for those who only poll,
	// as the DHCP library does. To wait makes the kernel gather what is missing.
	_, err = unix.Getrandom(make([]byte, 1), 0)
	return err
}

func load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FinitModule(int(f.Fd()), "", 0)
}

// argument is the value of a kernel argument; empty if it is not given.
func argument(name string) string {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return ""
	}
	for word := range strings.FieldsSeq(string(line)) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

func powerOff() error {
	say("power off")
	unix.Sync()
	return unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}
