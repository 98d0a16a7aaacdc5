package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"golang.org/x/sys/unix"
)

const (
	linkTimeout = 20 * time.Second
	dhcpTimeout = 5 * time.Second // of one try
	dhcpTries   = 6
)

// network gets a lease for the first interface. The URL below which to report is that
// of the kernel argument rackboot.url, else that of the lease (option 67).
func network(ctx context.Context) (string, error) {
	device, err := firstInterface(ctx)
	if err != nil {
		return "", err
	}
	if err := setUp(device); err != nil {
		return "", fmt.Errorf("set %s up: %w", device, err)
	}
	client, err := nclient4.New(device, nclient4.WithTimeout(dhcpTimeout), nclient4.WithRetry(dhcpTries))
	if err != nil {
		return "", err
	}
	defer client.Close()
	lease, err := client.Request(ctx, dhcpv4.WithRequestedOptions(dhcpv4.OptionBootfileName))
	if err != nil {
		return "", fmt.Errorf("DHCP: %w", err)
	}
	base := argument("rackboot.url")
	if base == "" {
		base = configURL()
	}
	if base == "" {
		base = lease.ACK.BootFileNameOption()
	}
	say("address %s, report URL given: %t", lease.ACK.YourIPAddr, base != "")
	if base == "" {
		return "", fmt.Errorf("neither the kernel's command line nor a config image nor DHCP (option 67) gave a URL to report to")
	}
	return base, setAddress(device, lease.ACK.YourIPAddr, lease.ACK.SubnetMask())
}

// firstInterface waits for a network interface: virtio finds its device a moment
// after the module is loaded.
func firstInterface(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	for {
		all, err := net.Interfaces()
		if err != nil {
			return "", err
		}
		for _, i := range all {
			if i.Flags&net.FlagLoopback == 0 && len(i.HardwareAddr) == 6 {
				return i.Name, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no network interface in %s", linkTimeout)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func setUp(device string) error {
	return control(device, func(fd int, r *unix.Ifreq) error {
		r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
	})
}

// setAddress gives the interface its address; the kernel adds the subnet's route.
func setAddress(device string, address net.IP, mask net.IPMask) error {
	err := control(device, func(fd int, r *unix.Ifreq) error {
		if err := r.SetInet4Addr(address.To4()); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, r)
	})
	if err != nil {
		return fmt.Errorf("set address: %w", err)
	}
	return control(device, func(fd int, r *unix.Ifreq) error {
		if err := r.SetInet4Addr(mask); err != nil {
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
