package serve

import "syscall"

// noCores has the kernel write no file of this process's memory, and of its children's: keys and BMC
// passwords are in it. Programs that the kernel pipes a core into (core_pattern, core(5)) are not bound by the
// limit, but keep to it, as systemd-coredump does.
func noCores() error { return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
