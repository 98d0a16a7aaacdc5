package message

import (
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Capability is something that an agent can do and that not every agent can. A
// hub sends an agent only what it has said it can do, and says
// [resource.CondAgentTooOld] of the rest.
type Capability string

// The capabilities.
const (
	// CapBootHdd, CapBootUefiHTTP: boots claims by this policy.
	CapBootHdd      Capability = "boot.hdd"
	CapBootUefiHTTP Capability = "boot.uefi-http"
	// CapBootChain: boots images that have a kernel and an initramfs and no UKI.
	CapBootChain Capability = "boot.chain"
	// CapBootIgnition: fetches user data and delivers it to the server that boots.
	CapBootIgnition Capability = "boot.ignition"
	// CapBootVirtualMedia: boots an ISO from the BMC's drive.
	CapBootVirtualMedia Capability = "boot.virtual-media"
	// CapBootNetwork: boots from the network at each power-on that the owner causes, by
	// grants that repeat.
	CapBootNetwork Capability = "boot.network"
	// CapBootURI: writes HttpBootUri for servers with reach uri.
	CapBootURI Capability = "boot.uri"
	// CapBootAnyMethod: serves firmware that follows an order of Pxe by HTTP, or the other way
	// round.
	CapBootAnyMethod Capability = "boot.any-method"
	// CapOSReboot: arms the disk again for restarts of the operating system.
	CapOSReboot Capability = "boot.os-reboot"
	// CapPurposes: takes another owner of a server than its claim, and gives it back.
	CapPurposes Capability = "boot.purposes"
	// CapDiscovery: discovers servers.
	CapDiscovery Capability = "boot.discovery"
	// CapBootAdopted: takes an operator's word in place of a provisioned record.
	CapBootAdopted Capability = "boot.adopted"
	// CapAsk: answers questions about BMCs.
	CapAsk Capability = "ask"
	// CapHoldTerms: heeds a hold's time to live, an operator's confirmation, and
	// firmware work. Agents without it hold until they are told to release, and stop
	// servers also during firmware work.
	CapHoldTerms Capability = "hold.terms"
	// CapAnyPhase: does one-shot requests in any phase.
	CapAnyPhase Capability = "request.any-phase"
	// CapApproval: takes approvals, and says in its Hello what it wants them for.
	CapApproval Capability = "approval"
	// CapSegmentIPv6: serves the IPv6 side of segments.
	CapSegmentIPv6 Capability = "segment.ipv6"
	// CapSealed: opens credentials that were sealed for it.
	CapSealed Capability = "secrets.sealed"
	// CapRotate: changes the account of a BMC to the next one that is sealed beside it.
	CapRotate Capability = "secrets.rotate"
	// CapRequestReboot, CapRequestPowerOff: does this one-shot request.
	CapRequestReboot   Capability = "request.reboot"
	CapRequestPowerOff Capability = "request.power-off"
	// CapRequestResume: likewise, and heeds RackIntent.SafeStop.
	CapRequestResume Capability = "request.resume"
	// CapBootFallback: boots the configuration before, when that of a new image fails.
	CapBootFallback Capability = "boot.fallback"
	// CapBootEnv: makes the files of boot environments.
	CapBootEnv Capability = "boot.env"
	// CapBootFiles: gets the artefacts of an image from the hub; see [resource.ImageFromHub].
	CapBootFiles Capability = "boot.files"
	// CapBootKeep: keeps the files of images that servers may return to.
	CapBootKeep Capability = "boot.keep"
	// CapStandby: stands by for another agent, and switches nothing on while that one's own
	// holds are not known.
	CapStandby Capability = "rack.standby"
	// CapEvidence: tells evidence of one class from that of another, and gives secrets by the
	// way that was chosen.
	CapEvidence Capability = "boot.evidence"
	// CapAttested: heeds that a boot has to be attested. One of before takes observed for enough.
	CapAttested Capability = "boot.attested"
	// CapFreeze: heeds ServerIntent.Frozen.
	CapFreeze Capability = "freeze"
	// CapFirmwareWrite: writes settings of firmware.
	CapFirmwareWrite Capability = "firmware.write"
	// CapInrush: heeds RackIntent.Inrush.
	CapInrush Capability = "inrush"
	// CapUpgrade: runs another release of itself by RackIntent.Upgrade. Only agents that can have it: those whose file
	// has keys for it and that a launcher started.
	CapUpgrade Capability = "upgrade"
)

// Capabilities are those of this release, but for [CapUpgrade], which is of an installation.
func Capabilities() []Capability {
	return []Capability{
		CapBootHdd, CapBootUefiHTTP, CapRequestReboot, CapRequestPowerOff, CapAsk, CapHoldTerms, CapAnyPhase,
		CapSegmentIPv6, CapSealed, CapApproval, CapBootChain, CapRotate, CapBootIgnition, CapBootNetwork, CapOSReboot,
		CapPurposes, CapBootAdopted, CapBootVirtualMedia, CapRequestResume, CapDiscovery, CapBootURI, CapBootEnv,
		CapBootFallback, CapBootFiles, CapBootKeep, CapStandby, CapEvidence, CapAttested, CapBootAnyMethod, CapFreeze, CapFirmwareWrite, CapInrush,
	}
}

// Lacking returns what is needed and not there.
func Lacking(have, need []Capability) (lacking []Capability) {
	for _, c := range need {
		if !slices.Contains(have, c) {
			lacking = append(lacking, c)
		}
	}
	return lacking
}

// CapabilityList is capabilities for people to read, in their order.
func CapabilityList(caps []Capability) string {
	words := make([]string, len(caps))
	for i, c := range caps {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

// Needs are the capabilities without which an agent must not be sent the boot.
// A first boot by Pxe is not among them: every agent says of it that it cannot.
func (b BootIntent) Needs() (need []Capability) {
	if b.BootPolicy.Boot == resource.BootHdd {
		need = append(need, CapBootHdd)
	}
	if b.BootPolicy.Boot == resource.BootNetwork {
		need = append(need, CapBootNetwork)
	}
	switch b.BootPolicy.FirstBoot {
	case resource.FirstBootUefiHTTP:
		need = append(need, CapBootUefiHTTP)
	case resource.FirstBootVirtualMedia:
		need = append(need, CapBootVirtualMedia)
	case resource.FirstBootPxe:
	}
	if b.BootPolicy.Network.Any() {
		need = append(need, CapBootAnyMethod)
	}
	if b.BootPolicy.OSReboot == resource.OSRebootRearm {
		need = append(need, CapOSReboot)
	}
	if b.Owner.Kind.Or() != resource.PurposeClaim {
		need = append(need, CapPurposes)
	}
	if b.Reach == resource.ReachURI {
		need = append(need, CapBootURI)
	}
	if b.Owner.Kind == resource.PurposeDiscovery {
		need = append(need, CapDiscovery)
	}
	if _, ok := b.Image.Artefact(resource.ArtefactUKI); !ok && len(b.Image.Artefacts) > 0 && b.BootPolicy.FirstBoot != resource.FirstBootVirtualMedia {
		need = append(need, CapBootChain)
	}
	if b.Ignition != nil {
		need = append(need, CapBootIgnition)
	}
	if b.RequireEvidence.Or() != resource.EvidenceReported || b.Ignition != nil && b.Secrets != resource.SecretsSegment {
		need = append(need, CapEvidence)
	}
	if !resource.EvidenceObserved.Meets(b.RequireEvidence) {
		need = append(need, CapAttested)
	}
	if b.Adopted != nil {
		need = append(need, CapBootAdopted)
	}
	if b.Env != nil {
		need = append(need, CapBootEnv)
	}
	if b.Image.Source == resource.ImageFromHub {
		need = append(need, CapBootFiles)
	}
	return need
}

// RequestNeeds are the capabilities without which an agent must not be sent the request.
func RequestNeeds(r resource.Request) []Capability {
	need := []Capability{Capability("request." + string(r.Action))}
	if r.AnyPhase {
		need = append(need, CapAnyPhase)
	}
	return need
}
