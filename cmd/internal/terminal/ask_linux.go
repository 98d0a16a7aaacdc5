package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// hide stops the terminal from showing what is typed; show ends that.
func hide(f *os.File) (show func(), err error) {
	fd := int(f.Fd())
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	quiet := *was
	quiet.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &quiet); err != nil {
		return nil, err
	}
	return func() {
		// A terminal that is gone shows nothing anyway.
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, was)
	}, nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
