package sim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/netboot/chain"
	"rackboot/netboot/firmware"
)

// loaders go on from a file that firmware has loaded, as shim and GRUB do: shim by the
// names of its siblings, GRUB by its configuration. What is installed is the initramfs.
// A file that is no loader boots by itself.
func (u *uefi) loaders(ctx context.Context, first firmware.Result) (firmware.Result, error) {
	dir, name := path.Split(first.URL)
	if !strings.HasPrefix(name, "shim") {
		return first, nil
	}
	c := u.client()
	c.From = first.Address
	for _, ask := range []string{"revocations_sbat.efi", "shim_certificate_0.efi"} {
		if _, err := c.Fetch(ctx, dir+ask); err == nil {
			u.log.Error("shim was given something for", "file", ask)
		}
	}
	config, err := u.configured(ctx, c, dir, strings.Replace(name, "shim", "/grub", 1))
	if err != nil {
		return first, err
	}
	if config.SHA256 == u.stopConfig() {
		return first, errStops
	}
	last := first
	root := rootOf(first.URL)
	for _, file := range kernelOf(string(config.Head)) {
		if last, err = c.Fetch(ctx, root+file); err != nil {
			return first, err
		}
	}
	return last, nil
}

// configured loads GRUB and its configuration.
func (u *uefi) configured(ctx context.Context, c *firmware.Client, dir, grub string) (r firmware.Result, err error) {
	for _, ask := range []string{grub, "grub.cfg-01-" + strings.ReplaceAll(u.mac.String(), ":", "-")} {
		if r, err = c.Fetch(ctx, dir+ask); err != nil {
			return r, err
		}
	}
	return r, nil
}

// rootOf is what the paths of GRUB's device begin with: scheme and authority, or the TFTP
// server's folder.
func rootOf(first string) string {
	if strings.HasPrefix(first, "tftp:") {
		return "tftp:"
	}
	u, err := url.Parse(first)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// kernelOf are the files that a configuration loads, kernel first, by the quoting of the
// GRUB manual, section 6.2.
func kernelOf(config string) (files []string) {
	for line := range strings.Lines(config) {
		words := strings.Split(strings.TrimSpace(line), "'")
		switch strings.TrimSpace(words[0]) {
		case "if linux":
			files = append(files, words[1])
		case "if initrd":
			for i := 1; i < len(words); i += 2 {
				files = append(files, words[i])
			}
		}
	}
	return files
}

// errStops is that GRUB was told to wait.
var errStops = errors.New("the stop image waits")

// stopConfig is the digest of the configuration by which this server's GRUB waits.
func (u *uefi) stopConfig() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(chain.StopConfig(u.config.Name, u.config.StopAfter))))
}

// stands does what GRUB does with it.
func (u *uefi) stands(ctx context.Context, guest *hardware.Guest) error {
	u.boots.add(&u.boots.stopped)
	u.log.Info("stands in the stop image")
	var after <-chan time.Time
	if d := u.config.StopAfter; d > 0 {
		after = time.After(d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-after:
	}
	guest.PowerOff()
	return errStops
}
