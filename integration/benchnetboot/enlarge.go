package main

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"rackboot/integration/netns"
)

// errNoSocket says that there is no UDP socket yet.
var errNoSocket = errors.New("no UDP socket")

// enlarge gives the UDP sockets of the processes in a namespace receive buffers of so many
// bytes, whatever net.core.rmem_max says: programs that have no setting for it lose what
// comes in bursts, and a whole room is one.
func enlarge(in *netns.Namespace, size int) error {
	ids, err := in.Processes()
	if err != nil {
		return err
	}
	found := false
	for _, id := range ids {
		process, err := unix.PidfdOpen(id, 0)
		if err != nil {
			return err
		}
		some, err := enlargeAll(process, id, size)
		_ = unix.Close(process) // it was only looked at
		if err != nil {
			return err
		}
		found = found || some
	}
	if !found {
		return errNoSocket
	}
	return nil
}

func enlargeAll(process, id, size int) (found bool, err error) {
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(id) + "/fd")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			return found, err
		}
		fd, err := unix.PidfdGetfd(process, n, 0)
		if err != nil {
			continue // closed meanwhile
		}
		if kind, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); kind == unix.SOCK_DGRAM {
			found, err = true, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size)
		}
		if err := errors.Join(err, unix.Close(fd)); err != nil {
			return found, err
		}
	}
	return found, nil
}
