package firmware

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot/firmware"
)

const (
	childProbe   = "probe"
	probeTimeout = 90 * time.Second // firmware itself gives up after 60 s
	macVar       = "RACKBOOT_TEST_MAC"
)

// child is what a copy of the test program does inside a namespace.
func child(name string) error {
	switch name {
	case childProbe:
		return probe()
	case childTFTP:
		return serveTFTP()
	case childChain:
		return serveChain()
	case childDHCP:
		return serveDHCP()
	case childSwitch:
		return announce()
	}
	return fmt.Errorf("no child %q", name)
}

// probe asks for a network boot as the firmware of a server does, and ends well if
// it is refused: by a URL that does not exist, which is quick.
func probe() error {
	mac, err := net.ParseMAC(os.Getenv(macVar))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	c := firmware.Client{MAC: mac, Interface: "eth0"}
	r, err := c.HTTPBoot(ctx)
	if errors.Is(err, firmware.ErrRefused) {
		return nil
	}
	return fmt.Errorf("asked for a boot, got %d bytes and %w", r.Size, err)
}

// refused puts a client with the held server's addresses in the held server's
// place, lets it ask for a boot, and takes it away again.
func (s *site) refused(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := errors.Join(
		netns.Cable(ctx, netns.Port{Namespace: s.rackA, Name: "probe0"}, netns.Port{Namespace: s.probe, Name: "eth0", Address: bootServer + "/24"}),
		s.probe.Run(ctx, "ip link set eth0 address "+macA),
		s.rackA.Join(ctx, "probe0", "boot0"),
	); err != nil {
		t.Fatal(err)
	}
	s.until(ctx, t, 30*time.Second, "a client in the held server's place", func(ctx context.Context) (bool, error) {
		return s.rackA.Forwards(ctx, "probe0")
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVar+"="+childProbe, macVar+"="+macA)
	out, err := os.Create(s.path("probe.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := s.probe.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("a held server's firmware asks for a boot: %v: %s", err, s.read("probe.log"))
	}
	if err := s.rackA.Run(ctx, "ip link del probe0"); err != nil {
		t.Fatal(err)
	}
	s.probed = true
	s.logf(t, "the held server's firmware is refused")
}
