package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// mountsEnv marks a process that has a mount namespace of its own.
const mountsEnv = "RACKBOOT_STORM_MOUNTS"

// PrivateMounts reports whether this process may mount file systems that nobody else sees.
func PrivateMounts() bool { return os.Getenv(mountsEnv) != "" }

// WithMounts runs this program once more, in a mount namespace of its own, and in a network of its own where that is
// asked for, and returns its exit code. Only root may.
func WithMounts(network bool) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), mountsEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if network {
		cmd.SysProcAttr.Unshareflags |= syscall.CLONE_NEWNET
		cmd.Env = append(cmd.Env, networkEnv+"=1")
	}
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Disk is a file system of limited size.
type Disk struct {
	Dir     string
	mounted bool
}

// newDisk makes the folder, and mounts a file system of the size there if that is possible.
func newDisk(dir string, size int64) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d := &Disk{Dir: dir}
	if !PrivateMounts() {
		return d, nil
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		return nil, fmt.Errorf("mount a disk on %s: %w", dir, err)
	}
	d.mounted = true
	return d, nil
}

// Limited reports whether the disk can be full.
func (d *Disk) Limited() bool { return d.mounted }

// fillName is the file that fills a disk.
const fillName = "fill"

// Fill takes all room that is left.
func (d *Disk) Fill() error {
	f, err := os.OpenFile(filepath.Join(d.Dir, fillName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // what counts is the room that it takes
	for piece := make([]byte, 1<<20); len(piece) > 0; {
		if _, err := f.Write(piece); errors.Is(err, syscall.ENOSPC) {
			piece = piece[:len(piece)/2]
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Free gives the room back.
func (d *Disk) Free() error {
	err := os.Remove(filepath.Join(d.Dir, fillName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Room is what is free, in bytes.
func (d *Disk) Room() (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}

func (d *Disk) close() error {
	if !d.mounted {
		return nil
	}
	d.mounted = false
	return syscall.Unmount(d.Dir, syscall.MNT_DETACH)
}
