package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"rackboot/hub/contents"
	"rackboot/hub/fence"
	"rackboot/hub/iso"
	"rackboot/hub/iso/openpgp"
	"rackboot/hub/packages"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/clock"
	"rackboot/state/jetstream"
)

// ISOs says how the files that people upload are kept.
type ISOs struct {
	// Dir is the folder of the files. Default isos in DataDir.
	Dir string `yaml:"dir"`
	// QuotaMiB bounds them together, in MiB, by default 204800; MinFreeMiB is how much of
	// the file system they leave alone, by default 1024.
	QuotaMiB   int64 `yaml:"quotaMiB"`
	MinFreeMiB int64 `yaml:"minFreeMiB"`
	// Keyring is a file with the OpenPGP keys that signatures are checked with; with it
	// no caller brings keys of its own. RequireSignature refuses files without one.
	Keyring          string `yaml:"keyring"`
	RequireSignature bool   `yaml:"requireSignature"`
}

const (
	isoQuotaMiB   = 200 << 10
	isoMinFreeMiB = 1 << 10
	// maxISOKeyring bounds the hub's keyring in bytes.
	maxISOKeyring = 16 << 20
)

func (c ISOs) check() error {
	switch {
	case c.QuotaMiB < 0 || c.MinFreeMiB < 0:
		return fmt.Errorf("isos: a size is not less than 0; leave it out for the default")
	case c.RequireSignature && c.Keyring == "":
		return fmt.Errorf("isos.requireSignature: give the keys in isos.keyring")
	}
	return nil
}

// quota is in bytes.
func (c ISOs) quota() int64 {
	if c.QuotaMiB == 0 {
		return isoQuotaMiB << 20
	}
	return c.QuotaMiB << 20
}

// minFree is in bytes.
func (c ISOs) minFree() int64 {
	if c.MinFreeMiB == 0 {
		return isoMinFreeMiB << 20
	}
	return c.MinFreeMiB << 20
}

// keyring reads the file of keys; nil without one.
func (c ISOs) keyring() ([]byte, error) {
	const op = "read isos.keyring"
	if c.Keyring == "" {
		return nil, nil
	}
	info, err := os.Stat(c.Keyring)
	if err == nil && info.Size() > maxISOKeyring {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has more than %d bytes", c.Keyring, maxISOKeyring).WithHint("name a file with the keys of those who publish what you boot")
	}
	raw, err := os.ReadFile(c.Keyring)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	return raw, nil
}

// openISOs opens the shelf of uploaded files.
func (h *hub) openISOs(c Config) (*iso.Shelf, error) {
	keyring, err := c.ISOs.keyring()
	if err != nil {
		return nil, err
	}
	return iso.Open(iso.Config{
		Dir: c.isosDir(), Quota: c.ISOs.quota(), MinFree: c.ISOs.minFree(), Store: h.store, Verifier: openpgp.Verifier{}, Keyring: keyring, RequireSignature: c.ISOs.RequireSignature,
		Depot: depot(h.upkeep.contents),
		// Both are asked for from its Run on and later, when there is a control.
		Needed: func() (map[string]bool, error) { return h.control.Env.ISODigests() },
		Event:  func(ctx context.Context, message string) { h.control.Env.ISOEvent(ctx, message) }, Clock: clock.Now, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	})
}

// openContents makes what keeps contents on the servers of the store; nil of a hub whose store is in its folder. Its stream
// is opened later: no hold waits for it.
func (h *hub) openContents(c Config, bulk jetstream.Config) (*contents.Room, error) {
	if bulk.Conn == nil || h.store.Lost() != nil { // what was lost may name what would be removed
		return nil, h.reg.Register(contents.Alone())
	}
	bulk.MaxBytes = c.ISOs.quota() // else what is uploaded could take the room of holds
	bucket, err := jetstream.NewBucket(bulk)
	if err != nil {
		return nil, err
	}
	return contents.New(contents.Config{
		Store: h.store, Bucket: bucket, Quota: c.ISOs.quota(), Needed: h.store.Repositories.Needed, // also of a hub without a registry
		Works: func() bool { return h.start.Works(fence.Site) }, Under: func(ctx context.Context) context.Context { return h.start.Under(ctx, fence.Site) },
		Clock: clock.Now, NewID: rand.Text, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	})
}

// serve says whose folders contents are for.
func (up upkeep) serve(isos *iso.Shelf, own *ownRegistry) {
	if up.contents == nil {
		return
	}
	shelves := []contents.Shelf{contents.Uploads(isos)}
	if own != nil {
		shelves = append(shelves, own.Shelf())
	}
	up.contents.Serve(shelves...)
}

// depot is the room as the shelf asks it.
func depot(r *contents.Room) iso.Depot {
	if r == nil {
		return nil
	}
	return r
}

// files is where uploaded files are, and images.
func (c Config) files() filesFolder {
	f := filesFolder{dir: c.isosDir(), quota: c.ISOs.quota(), minFree: c.ISOs.minFree()}
	if c.Registry.Listen != "" {
		f.images = imagesFolder{c.registryDir(), c.Registry.quota(), c.Registry.minFree()}
	}
	return f
}

// isosDir is the folder of uploaded files.
func (c Config) isosDir() string {
	if c.ISOs.Dir != "" {
		return c.ISOs.Dir
	}
	return c.path("isos")
}

// openPackages makes what keeps packages of agents.
func (h *hub) openPackages(c Config) (*packages.Room, error) {
	keys, err := c.Upgrade.publishers()
	if err != nil {
		return nil, err
	}
	return packages.New(packages.Config{
		Store: h.store, Shelf: h.isos, Keys: keys, Event: func(ctx context.Context, message string) {
			h.control.Events.Own(ctx, "", resource.EventAgentUpgrade, message)
		},
		Clock: clock.Now, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	}), nil
}
