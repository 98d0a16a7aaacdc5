package plan

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// First is what becomes of a bound claim that has no boot configuration yet.
type First string

// The answers.
const (
	FirstGoes First = "goes" // image, user data and grant
	FirstWait First = "wait" // nothing is known of the server
	FirstAsk  First = "ask"  // somebody has to decide; see resource.Decision
)

// lastRead is what was read last of a server's power that says something.
type lastRead string

const (
	readNever lastRead = "never"
	readOff   lastRead = "Off"
	readOn    lastRead = "On"
	readOther lastRead = "other's" // it runs for another owner, who ends with Off
	readKept  lastRead = "kept"    // the agent has a record of an owner that did not let it go
)

// firstRule says whether a claim that has no configuration gets one with a grant. The
// first row that fits decides.
//
//	decision | read    | answer
//	install  | *       | goes
//	open     | *       | ask
//	none     | On      | ask
//	none     | kept    | ask
//	none     | Off     | goes
//	none     | *       | wait
//
// What runs and was not booted by us may be what the claim is for, so that it is not
// installed over because it happens to be Off some time later; nor is what was installed for a claim
// that this hub has lost. The answer "ask" is
// stored with the claim, and stays until somebody decides.
func firstRule(d decision, read lastRead) First {
	switch {
	case d == decisionInstall:
		return FirstGoes
	case d == decisionOpen, read == readOn, read == readKept:
		return FirstAsk
	case read == readOff:
		return FirstGoes
	}
	return FirstWait
}

// decision is how far a claim's decision has come.
type decision string

const (
	decisionNone    decision = "none"
	decisionOpen    decision = "open"
	decisionInstall decision = "install"
)

func decisionOf(d *resource.Decision) decision {
	switch {
	case d == nil:
		return decisionNone
	case d.Open():
		return decisionOpen
	}
	return decisionInstall
}

// FirstBoot judges a claim that is bound and has no configuration.
func FirstBoot(f Fleet, c *resource.Claim) First {
	return firstRule(decisionOf(c.Status.Decision), lastReadOf(f, c))
}

func lastReadOf(f Fleet, c *resource.Claim) lastRead {
	r := f.Reports[c.Status.Server]
	if r == nil {
		return readNever
	}
	if r.Unreleased != nil {
		return readKept
	}
	power := r.Power
	if power == "" {
		power = r.Observation.Power
	}
	switch power {
	case protocol.PowerOff:
		return readOff
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
		if f.MaintenanceOf(c.Status.Server) != nil || r.OwnerUID != "" && r.OwnerUID != c.Metadata.UID {
			return readOther
		}
		return readOn
	case protocol.PowerUnknown, protocol.PowerUnreachable:
	}
	return readNever
}

// Asked is what somebody wants of a server that may have an installed system.
type Asked string

// What may be asked.
const (
	AskKeep    Asked = "keep"    // what runs is what the claim wants
	AskInstall Asked = "install" // install over it
)

// Takeover is what becomes of it.
type Takeover string

// The answers.
const (
	TakeNothing   Takeover = "nothing"         // it is so already
	TakeKeep      Takeover = "keep"            // a configuration is made that is installed
	TakeMark      Takeover = "mark"            // the configuration that there is counts as installed
	TakeInstall   Takeover = "install"         // the claim may go on to its first boot
	RefuseImage   Takeover = "refuse: image"   // the configuration is for another image
	RefuseGrant   Takeover = "refuse: grant"   // it was decided already, or never had to be
	RefuseNetwork Takeover = "refuse: network" // boot: Network keeps nothing on the disk
)

// takeRule judges a takeover. The first row that fits decides.
//
//	asked   | network | configured | installed | image | answer
//	keep    | yes     | *          | *         | *     | refuse: network
//	keep    | no      | no         | *         | *     | keep
//	keep    | no      | yes        | *         | other | refuse: image
//	keep    | no      | yes        | yes       | same  | nothing
//	keep    | no      | yes        | no        | same  | mark
//	install | *       | no         | *         | *     | install
//	install | *       | yes        | *         | *     | refuse: grant
//
// A configuration is never given a second grant: to install anew under a claim, delete
// it and create it again, or have a roll-out of its group do so. See envChangeRule for one that is replaced before.
func takeRule(asked Asked, network, configured, installed, sameImage bool) Takeover {
	switch {
	case asked == AskInstall && configured:
		return RefuseGrant
	case asked == AskInstall:
		return TakeInstall
	case network:
		return RefuseNetwork
	case !configured:
		return TakeKeep
	case !sameImage:
		return RefuseImage
	case installed:
		return TakeNothing
	}
	return TakeMark
}

// Take judges what is asked of a bound claim; cfg is its configuration or nil, digest
// that of the image which is kept.
func Take(asked Asked, c *resource.Claim, cfg *resource.BootConfiguration, digest string) Takeover {
	network := c.Spec.BootPolicy.Boot == resource.BootNetwork
	if cfg == nil {
		return takeRule(asked, network, false, false, false)
	}
	return takeRule(asked, network, true, cfg.Installed(), cfg.Spec.Image.Digest == digest)
}

// AdoptedImage is the image of a system that somebody keeps: image is IMAGE@DIGEST, and
// where IMAGE is what the claim says, that is its reference, so that the claim shows no
// difference. It has no artefacts: nothing is booted from the network.
func AdoptedImage(c *resource.Claim, srv *resource.Server, image string) resource.Image {
	reference, digest := resource.SplitImage(image)
	if c.Spec.Image == image {
		reference = image
	}
	return resource.Image{Reference: reference, Digest: digest, Architecture: srv.Architecture()}
}
