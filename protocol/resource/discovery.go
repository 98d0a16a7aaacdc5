package resource

import (
	"time"

	"rackboot/protocol"
)

// RackDiscovery says that the servers of a rack are discovered: a server that nobody
// owns and that was never discovered is booted by Pxe into an image that reports what is
// in it. It is Available afterwards (seed 000, Discovery lifecycle). No boot policy is
// consulted.
type RackDiscovery struct {
	// Image is an OCI reference of a kernel and an initramfs, or of a UKI, with
	// rackboot-probe or another program that reports discovered.
	Image string `json:"image,omitempty"`
	// BootEnv names a boot environment with onlyUnknown, in place of Image.
	// ImageFrom names a group in place of Image.
	ImageFrom *ImageFrom `json:"imageFrom,omitempty"`
	BootEnv   *Ref       `json:"bootEnv,omitempty"`
	// KernelArgs are those of [ClaimSpec].
	KernelArgs string `json:"kernelArgs,omitempty"`
	// AllowPowerCycle lets a discovery stop a server that it finds On, gracefully and
	// then forced. Without it such a server waits for somebody who powers it off.
	AllowPowerCycle bool `json:"allowPowerCycle,omitempty"`
	// MaxAttempts is how often one server is booted for it, from 1 to 20. Default 3.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// MaxAtOnce is how many servers of the rack are discovered at once, from 1 to 1000:
	// their power-ons and what they load come together. Default 8.
	MaxAtOnce int `json:"maxAtOnce,omitempty"`
	// Timeout bounds one attempt from its power-on to the report. Default 30 minutes.
	Timeout protocol.Duration `json:"timeout,omitempty"`
}

// Bounds and defaults of a discovery.
const (
	defaultDiscoveryAttempts = 3
	maxDiscoveryAttempts     = 20
	defaultDiscoveriesAtOnce = 8
	maxDiscoveriesAtOnce     = 1000
	defaultDiscoveryTimeout  = 30 * time.Minute
	minDiscoveryTimeout      = 5 * time.Second
	maxDiscoveryTimeout      = 24 * time.Hour
)

func (d *RackDiscovery) setDefault() {
	if d == nil {
		return
	}
	if d.MaxAttempts == 0 {
		d.MaxAttempts = defaultDiscoveryAttempts
	}
	if d.MaxAtOnce == 0 {
		d.MaxAtOnce = defaultDiscoveriesAtOnce
	}
	setDuration(&d.Timeout, defaultDiscoveryTimeout)
}

func (d *RackDiscovery) check(f *fields, path string) {
	if d == nil {
		return
	}
	checkBootSource(f, path, d.Image, d.ImageFrom, d.BootEnv, DiscoveryPolicy().FirstBoot)
	f.kernelArgs(path+".kernelArgs", d.KernelArgs)
	if d.MaxAttempts < 1 || d.MaxAttempts > maxDiscoveryAttempts {
		f.Add(path+".maxAttempts", "%d is not between 1 and %d", d.MaxAttempts, maxDiscoveryAttempts)
	}
	if d.MaxAtOnce < 1 || d.MaxAtOnce > maxDiscoveriesAtOnce {
		f.Add(path+".maxAtOnce", "%d is not between 1 and %d", d.MaxAtOnce, maxDiscoveriesAtOnce)
	}
	f.between(path+".timeout", d.Timeout, minDiscoveryTimeout, maxDiscoveryTimeout)
}

// DiscoveryPolicy is the boot policy of each discovery: Pxe, whatever anybody says.
func DiscoveryPolicy() BootPolicy {
	return BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: OSRebootSafeStop}
}

// Discovered is what the last discovery of a server found, as the hub keeps it.
type Discovered struct {
	At time.Time `json:"at"` // of the report, by the agent's clock
	// UID is of the discovery.
	UID         string `json:"uid"`
	ImageDigest string `json:"imageDigest"`
	// Method is what firmware really booted by.
	Method protocol.BootTarget `json:"method,omitempty"`
	// Digest is of the inventory's JSON, Bytes its length. One of more than
	// MaxReportedInventory stays at the agent, and Inventory is absent.
	Digest    string                  `json:"digest,omitempty"`
	Bytes     int                     `json:"bytes,omitempty"`
	Inventory *protocol.HostInventory `json:"inventory,omitempty"`
}

// DiscoveryState is whether a server without an owner may be claimed.
type DiscoveryState string

// The states. Empty: it was discovered, or its rack has no discovery.
const (
	DiscoveryWanted DiscoveryState = "wanted" // it comes, or is under way
	DiscoveryFailed DiscoveryState = "failed" // it is tried again when somebody asks
)

// DiscoveryStatus is what was asked of a server's discovery, and how it failed.
type DiscoveryStatus struct {
	// AskedAt is when somebody asked for another one, which has not ended yet.
	AskedAt *time.Time `json:"askedAt,omitempty"`
	AskedBy string     `json:"askedBy,omitempty"`
	// FailedAt is when the last attempt was given up, Reason why.
	FailedAt *time.Time `json:"failedAt,omitempty"`
	Reason   string     `json:"reason,omitempty"`
}

// DiscoveryOf is how the discovery of a server stands in a rack. The first row that fits
// decides.
//
//	rack has | failed | asked | discovered | state
//	no       | *      | *     | *          | none
//	yes      | yes    | *     | *          | failed
//	yes      | no     | yes   | *          | wanted
//	yes      | no     | no    | no         | wanted
//	yes      | no     | no    | yes        | none
func DiscoveryOf(has bool, s *ServerStatus) DiscoveryState {
	failed, asked := s.Discovery != nil && s.Discovery.FailedAt != nil, s.Discovery != nil && s.Discovery.AskedAt != nil
	switch {
	case !has:
		return ""
	case failed:
		return DiscoveryFailed
	case asked || s.Discovered == nil:
		return DiscoveryWanted
	}
	return ""
}
