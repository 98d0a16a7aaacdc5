package main

import (
	"context"
	"time"
)

// installTimeout bounds the whole installation.
const installTimeout = 3 * time.Minute

// image is the gzipped disk image in the initramfs.
const image = "/disk.gz"

// install writes the disk and reports. The disk is synced before the report: what
// was reported must survive the loss of power.
func install() error {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	say("installer started")
	base, err := network(ctx)
	if err != nil {
		return err
	}
	disk, n, err := writeDisk(image)
	if err != nil {
		return err
	}
	say("wrote %s, %d bytes of data", disk, n)
	if err := report(ctx, base); err != nil {
		return err
	}
	say("installed")
	return nil
}

// reportOnly reports and installs nothing: that it runs is what a test wants to know.
func reportOnly() error {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	say("reporter started")
	base, err := network(ctx)
	if err != nil {
		return err
	}
	if err := userData(ctx); err != nil {
		return err
	}
	if err := report(ctx, base); err != nil {
		return err
	}
	say("reported")
	return nil
}
