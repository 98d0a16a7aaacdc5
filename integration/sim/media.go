package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"rackboot/bmc/sim/hardware"
	"rackboot/integration/powerlog"
	"rackboot/netboot/firmware"
	"rackboot/netboot/iso"
	"rackboot/protocol"
)

// targetUsbCd is what some vendors call the drive.
const targetUsbCd protocol.BootTarget = "UsbCd"

// readSize is how much firmware and system read of a drive at once, in bytes.
const readSize = 256 << 10

// config is what a config image tells an installer.
type config struct {
	base     string
	userData []byte // nil for none
}

// bootMedia boots the first drive with an image that firmware boots, and installs it. What
// another drive tells, the installer reads.
func (u *uefi) bootMedia(ctx context.Context, guest *hardware.Guest) error {
	var told *config
	var boot *hardware.Medium
	for _, d := range guest.Drives() {
		if c, ok := readConfig(d); ok {
			told = c
		} else if boot == nil && iso.Check(d, "amd64") == nil {
			boot = d
		}
	}
	if boot == nil {
		u.boots.add(&u.boots.refused)
		u.log.Info("no boot from the drives")
		return protocol.Errorf(protocol.CodeNotFound, "boot drive", "no drive has an image that boots")
	}
	sum := sha256.New()
	buffer := make([]byte, readSize)
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{io.NewSectionReader(boot, 0, boot.Size)}, buffer); err != nil {
		u.boots.add(&u.boots.refused)
		u.log.Info("no boot from the drives", "err", err)
		return err
	}
	u.boots.loaded(boot.URL)
	u.config.Life.Add(powerlog.Network, boot.URL)
	u.log.Info("booted from a virtual drive", "size", boot.Size, "config", told != nil)
	return u.install(ctx, guest, hex.EncodeToString(sum.Sum(nil)), told)
}

// configIn is what a config image in one of the drives tells, if there is one.
func configIn(guest *hardware.Guest) (*config, bool) {
	for _, d := range guest.Drives() {
		if c, ok := readConfig(d); ok {
			return c, true
		}
	}
	return nil, false
}

// readConfig reads a config image, if it is one.
func readConfig(d *hardware.Medium) (*config, bool) {
	v, err := iso.OpenFS(d, d.Size)
	if err != nil || v.Label() != protocol.ConfigLabel {
		return nil, false
	}
	base, err := v.ReadSmall(protocol.ConfigURL)
	if err != nil {
		return nil, false
	}
	c := &config{base: strings.TrimSpace(string(base))}
	if data, err := v.ReadSmall(protocol.ConfigIgnition); err == nil {
		c.userData = data
	}
	return c, true
}

// told is where the installer reports to, and its address: without a config image the
// lease says it.
func (u *uefi) told(ctx context.Context, c *config) (firmware.Lease, error) {
	if c != nil {
		return firmware.Lease{Bootfile: c.base}, nil
	}
	return u.lease(ctx)
}
