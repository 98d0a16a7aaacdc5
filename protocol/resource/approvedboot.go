package resource

import (
	"fmt"
	"slices"

	"rackboot/protocol"
)

// ApprovedBoot is the one network boot of a server that an approval allows, or the one writing of firmware settings.
type ApprovedBoot struct {
	Server string `json:"server"`
	// Owner is the UID of the maintenance or claim that the boot is for: another one of the
	// same server, or a later one of the same name, is not approved.
	Owner string `json:"owner"`
	// BootEnv is the name of the boot environment. To wipe it must be given; else empty is
	// whatever the owner boots.
	BootEnv string `json:"bootEnv,omitempty"`
	// Image is the digest of the image, sha256:<hex>; empty is whatever the owner boots.
	Image string `json:"image,omitempty"`
	// Settings is the digest of the firmware settings ([SettingsDigest]). To firmware it must be given; else it is empty.
	Settings string `json:"settings,omitempty"`
}

// OfBoots says whether approvals of the class name the boots that they allow.
func (c ApprovalClass) OfBoots() bool {
	return c == ApproveWipe || c == ApproveReprovision || c == ApproveFirmware
}

// checkBoots wants one boot for each target of a class of boots, and else none.
func (a Approval) checkBoots(f *fields) {
	if !a.Class.OfBoots() {
		if len(a.Boots) > 0 {
			f.Add("boots", "an approval of class %.40q allows no boot", a.Class)
		}
		return
	}
	if len(a.Boots) != len(a.Targets) {
		f.Add("boots", "has %d entries for %d targets; give one for each", len(a.Boots), len(a.Targets))
		return
	}
	seen := map[string]bool{}
	for i, t := range a.Boots {
		at := fmt.Sprintf("boots[%d]", i)
		switch {
		case !slices.Contains(a.Targets, t.Server) || seen[t.Server]:
			f.Add(at+".server", "%.80q is no target, or a second time", t.Server)
		case t.Owner == "" || len(t.Owner) > maxBootOwner:
			f.Add(at+".owner", "is not a UID")
		case !protocol.ValidName(t.BootEnv) && (t.BootEnv != "" || a.Class == ApproveWipe):
			f.Add(at+".bootEnv", "%.80q is not a name", t.BootEnv)
		case t.Image != "" && !protocol.ValidDigest(t.Image):
			f.Add(at+".image", "%.80q is not sha256: and 64 hex digits", t.Image)
		case (a.Class == ApproveFirmware) != protocol.ValidDigest(t.Settings), a.Class != ApproveFirmware && t.Settings != "":
			f.Add(at+".settings", "%.80q is not sha256: and 64 hex digits, or the approval is not of firmware settings", t.Settings)
		}
		seen[t.Server] = true
	}
}

// maxBootOwner bounds a UID in an approval, in bytes.
const maxBootOwner = 64
