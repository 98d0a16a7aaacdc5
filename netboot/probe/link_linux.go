package probe

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

func setUp(device string) error {
	return control(device, func(fd int, r *unix.Ifreq) error {
		r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_MULTICAST)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
	})
}

// setAddress gives the interface its address; the kernel adds the subnet's route.
func setAddress(device string, p netip.Prefix) error {
	err := control(device, func(fd int, r *unix.Ifreq) error {
		if err := r.SetInet4Addr(p.Addr().AsSlice()); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, r)
	})
	if err != nil {
		return fmt.Errorf("set address: %w", err)
	}
	return control(device, func(fd int, r *unix.Ifreq) error {
		if err := r.SetInet4Addr(net.CIDRMask(p.Bits(), 32)); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, r)
	})
}

// control calls do with a socket and a request for the interface (netdevice(7)).
func control(device string, do func(fd int, r *unix.Ifreq) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	return do(fd, r)
}

// routeMessage is RTM_NEWROUTE of a default route by a router (rtnetlink(7)).
func routeMessage(router netip.Addr, index int) []byte {
	n := binary.NativeEndian
	attribute := func(b []byte, kind uint16, value []byte) []byte {
		b = n.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
		return append(n.AppendUint16(b, kind), value...)
	}
	b := make([]byte, unix.SizeofNlMsghdr, 64)
	b = append(b, unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_DHCP, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST, 0, 0, 0, 0)
	b = attribute(b, unix.RTA_GATEWAY, router.AsSlice())
	b = attribute(b, unix.RTA_OIF, n.AppendUint32(nil, uint32(index)))
	n.PutUint32(b, uint32(len(b)))
	n.PutUint16(b[4:], unix.RTM_NEWROUTE)
	n.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
	n.PutUint32(b[8:], 1)
	return b
}

// setRoute makes a router the way to everywhere else.
func setRoute(router netip.Addr, index int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, routeMessage(router, index), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("set route: %w", err)
	}
	// The kernel answers before sendto returns: NLMSG_ERROR with a negative errno, or 0.
	answer := make([]byte, 256)
	n, _, err := unix.Recvfrom(fd, answer, unix.MSG_DONTWAIT)
	if err != nil {
		return fmt.Errorf("set route: %w", err)
	}
	if n >= unix.SizeofNlMsghdr+4 && binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR {
		if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
			return fmt.Errorf("set route: %w", unix.Errno(-code))
		}
	}
	return nil
}
