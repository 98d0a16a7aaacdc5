package message

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// HoldDoc is everything that stops servers. It is small and sent first. A hold
// that is missing from a newer HoldDoc stays enforced; only Releases end holds.
type HoldDoc struct {
	Head     protocol.Head `json:"head"`
	Agent    string        `json:"agent"`
	Term     uint64        `json:"term"`
	IssuedAt time.Time     `json:"issuedAt"`
	// Fence is that of the hub that signed.
	Fence Fence `json:"fence"`
	// Standby says that the agent stands by: it keeps the holds, and orders nothing. Then Holds
	// are all that there are at the hub: one that is missing in a newer document is over.
	Standby  bool                  `json:"standby,omitempty"`
	Holds    []resource.ActiveHold `json:"holds,omitempty"`
	Releases []resource.Release    `json:"releases,omitempty"`
	Requests []resource.Request    `json:"requests,omitempty"`
	// Approvals are signed Approvals, at most MaxApprovals.
	Approvals [][]byte `json:"approvals,omitempty"`
}

// RackDoc is one shard of what a rack's servers shall be. It replaces the shard.
// Shard 0 also carries the segments and the rack's stop times.
type RackDoc struct {
	Head     protocol.Head  `json:"head"`
	Agent    string         `json:"agent"`
	Term     uint64         `json:"term"`
	IssuedAt time.Time      `json:"issuedAt"`
	Fence    Fence          `json:"fence"`
	Shard    int            `json:"shard"`
	Shards   int            `json:"shards"`
	Rack     *RackIntent    `json:"rack,omitempty"`
	Servers  []ServerIntent `json:"servers"`
}

// RackIntent is what concerns the whole rack.
type RackIntent struct {
	Name         string                   `json:"name"`
	SoftTimeout  time.Duration            `json:"softTimeout"`
	SettleWindow time.Duration            `json:"settleWindow"`
	PollInterval time.Duration            `json:"pollInterval"`
	Segments     []resource.SegmentIntent `json:"segments,omitempty"`
	// AgentKeys are the Ed25519 keys of all agents that served the rack.
	AgentKeys [][]byte `json:"agentKeys,omitempty"`
	// Standby says that the agent stands by: it fetches boot files, and orders and serves
	// nothing. An agent acts once neither document says so.
	Standby bool `json:"standby,omitempty"`
	// Twin is the other agent of the rack, where there is one.
	Twin *TwinIntent `json:"twin,omitempty"`
	// TakenOver are agents that served the rack before, while the holds that were placed at
	// them are not known: nothing is switched on. For agents with [CapStandby].
	TakenOver []string `json:"takenOver,omitempty"`
	// SafeStop is nil where machines are refused that ask for a boot without an order.
	SafeStop *SafeStopIntent `json:"safeStop,omitempty"`
	// Inrush bounds how many servers are switched on at once; nil does not. Agents with [CapInrush] heed it.
	Inrush *InrushIntent `json:"inrush,omitempty"`
	// Keep are the files that are kept for a return; nil is none. For agents with
	// [CapBootKeep].
	Keep *KeepIntent `json:"keep,omitempty"`
	// Upgrade is another release that the agent is to run; nil is none. For agents with [CapUpgrade].
	Upgrade *UpgradeIntent `json:"upgrade,omitempty"`
}

// SafeStopIntent is a rack's SafeStopSpec as it travels to an agent.
type SafeStopIntent struct {
	NetworkFirst  resource.NetworkFirst `json:"networkFirst,omitempty"`
	PowerOffAfter time.Duration         `json:"powerOffAfter,omitempty"`
	BelieveAfter  time.Duration         `json:"believeAfter,omitempty"`
}

// SafeStopOf is a rack's spec as it travels; nil of nil.
func SafeStopOf(s *resource.SafeStopSpec) *SafeStopIntent {
	if s == nil {
		return nil
	}
	return &SafeStopIntent{NetworkFirst: s.NetworkFirst, PowerOffAfter: s.PowerOffAfter.D(), BelieveAfter: s.BelieveAfter.D()}
}

// ServerIntent is what one server shall be.
type ServerIntent struct {
	Server       string    `json:"server"`
	UID          string    `json:"uid"`
	BMC          BMCIntent `json:"bmc"`
	SystemURI    string    `json:"systemURI,omitempty"`
	Segment      string    `json:"segment"`
	BootMAC      string    `json:"bootMAC"`
	MACs         []string  `json:"macs,omitempty"`
	UUID         string    `json:"uuid,omitempty"`
	Architecture string    `json:"architecture"`
	// DisablePowerOff is that of the Server: nothing but a hold stops it.
	DisablePowerOff bool `json:"disablePowerOff,omitempty"`
	// KeepPowerRestorePolicy is that of the Server: a hold leaves what it does when mains
	// power returns.
	KeepPowerRestorePolicy bool `json:"keepPowerRestorePolicy,omitempty"`
	// Identity is the one that an operator accepted after it had changed; empty
	// trusts the first that is read.
	Identity string `json:"identity,omitempty"`
	// ForgetTPM is the enrolment of a TPM that does not count any more, see [resource.TPMReport]; empty
	// is none. One that was enrolled since counts.
	ForgetTPM string `json:"forgetTPM,omitempty"`
	// Owner is the server's only one; zero is none.
	Owner resource.Owner `json:"owner,omitzero"`
	// PowerCycle lets the owner stop a server that it finds running for nobody. One that
	// runs for an earlier owner is stopped without it.
	PowerCycle bool `json:"powerCycle,omitempty"`
	// Power is what the owner wants; empty without one.
	Power resource.Power `json:"power,omitempty"`
	// Releasing asks for a proven Off before the claim may go.
	Releasing bool `json:"releasing,omitempty"`
	// Boot is what to boot; nil without a claim whose image is validated.
	Boot *BootIntent `json:"boot,omitempty"`
	// Firmware is work under way that must not be interrupted.
	Firmware *resource.FirmwareWork `json:"firmware,omitempty"`
	// Settings are what its owner, a maintenance, wants written into its firmware in place of a boot;
	// nil is nothing. For agents with [CapFirmwareWrite].
	Settings *SettingsIntent `json:"settings,omitempty"`
	// Frozen is a freeze that lies on the server: nothing switches it on, restarts or arms it.
	Frozen *resource.Frozen `json:"frozen,omitempty"`
	// Feed is the power feed that the server hangs on, which counts for the rack's Inrush; empty is none.
	Feed string `json:"feed,omitempty"`
	// Discovery says that the server is not Available although nobody may own it.
	Discovery resource.DiscoveryState `json:"discovery,omitempty"`
}

// SettingsIntent are settings of firmware that are to be written.
type SettingsIntent struct {
	Want []resource.FirmwareWanted `json:"want"`
}

// BMCIntent says how to reach the BMC.
type BMCIntent struct {
	Name           string `json:"name"`
	Address        string `json:"address"`
	CredentialsRef string `json:"credentialsRef"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	CA             string `json:"ca,omitempty"`
	// LegacyTLS uses the BMC though its TLS is too old.
	LegacyTLS bool `json:"legacyTLS,omitempty"`
	// Sealed are the credentials of secret:NAME. They are absent with local:NAME, which
	// stay in the rack.
	Sealed *SealedCredentials `json:"sealed,omitempty"`
}

// Same says whether both reach a BMC in the same way. Credentials that were sealed anew
// are the same ones.
func (b BMCIntent) Same(o BMCIntent) bool {
	same := b.Sealed.Is(o.Sealed)
	b.Sealed, o.Sealed = nil, nil
	return same && b == o
}

// BootIntent is a BootConfiguration as it travels to an agent.
type BootIntent struct {
	Owner resource.Owner `json:"owner"`
	resource.GrantedBoot
	Provisioned []byte `json:"provisioned,omitempty"` // signed Provisioned, echoed
	// Adopted is an operator's word in place of a record; nil is none.
	Adopted *resource.Adopted `json:"adopted,omitempty"`
	// Ignition is the server's user data; nil is none.
	Ignition *IgnitionIntent `json:"ignition,omitempty"`
	// Env is the boot environment; nil boots the image's own files.
	Env *EnvIntent `json:"env,omitempty"`
	// Timeout bounds an attempt of a discovery, from its power-on to the report.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Reach is how firmware comes to its boot files; empty is by DHCP on the segment.
	Reach resource.Reach `json:"reach,omitempty"`
	// Fallback is what is booted instead once this has failed often enough; nil is
	// nothing. Of a claim with [resource.BootNetwork] only. An agent that does not know it goes on
	// as without.
	Fallback *BootFallback `json:"fallback,omitempty"`
	// Secrets is how secrets of the boot come to the server; empty is through its BMC, or the
	// boot waits. RequireEvidence is the weakest evidence by which the boot has ended well; empty
	// is reported. For agents with [CapEvidence].
	Secrets         resource.SecretsWay    `json:"secrets,omitempty"`
	RequireEvidence resource.EvidenceClass `json:"requireEvidence,omitempty"`
}

// BootFallback is the configuration before a new one. The agent returns to it by itself,
// and stays until there is a configuration of a higher generation.
type BootFallback struct {
	// After is after how many failed network boots in a row, at least 1.
	After int `json:"after"`
	resource.GrantedBoot
	Ignition *IgnitionIntent `json:"ignition,omitempty"`
}

// Former is the boot that is returned to; nil without one.
func (b *BootIntent) Former() *BootIntent {
	f := b.Fallback
	if f == nil {
		return nil
	}
	return &BootIntent{
		Owner:       b.Owner,
		Reach:       b.Reach,
		GrantedBoot: f.GrantedBoot,
		Ignition:    f.Ignition,

		Secrets: b.Secrets, RequireEvidence: b.RequireEvidence,
	}
}

// All are the boot and what it may return to; nothing of a nil one.
func (b *BootIntent) All() []*BootIntent {
	switch {
	case b == nil:
		return nil
	case b.Fallback == nil:
		return []*BootIntent{b}
	}
	return []*BootIntent{b, b.Former()}
}

// ApprovedBy says whether the boot, of a server, is the one that was approved.
func (b *BootIntent) ApprovedBy(a resource.ApprovedBoot, server string) bool {
	env := ""
	if b.Env != nil {
		env = b.Env.Name
	}
	return a.Server == server && a.Owner != "" && a.Owner == b.Owner.UID && (a.BootEnv == "" || a.BootEnv == env) && (a.Image == "" || a.Image == b.Image.Digest)
}

// CheckFallback says what of a fallback cannot be; the error is invalid.
func (b *BootIntent) CheckFallback() error {
	const op = "check the boot to return to"
	switch f := b.Fallback; {
	case f == nil:
	case b.BootPolicy.Boot != resource.BootNetwork, f.BootPolicy.Boot != resource.BootNetwork, b.Owner.Kind.Or() != resource.PurposeClaim:
		return protocol.Errorf(protocol.CodeInvalid, op, "it is for claims with boot: Network")
	case f.After < 1:
		return protocol.Errorf(protocol.CodeInvalid, op, "after %d failed boots", f.After)
	case f.Generation >= b.Generation:
		return protocol.Errorf(protocol.CodeInvalid, op, "it is not an earlier configuration")
	}
	return nil
}

// Grant is the hub's one-time permission to network-boot a server for the first
// time under a claim. The agent writes its use to disk before it arms anything.
// MaxAttempts bounds how often a boot that fetched nothing may be tried; once
// the boot file was fetched, the grant is spent whatever happened after (P4).
//
// One with Repeat is for each power-on that the owner's intent causes: MaxAttempts then
// bounds those of them, one after the other, that fetched nothing. One of purpose
// discovery is for MaxAttempts boots in all, whatever they fetched: its image writes
// nothing.
type Grant struct {
	OwnerUID    string             `json:"ownerUID"`
	Generation  uint64             `json:"generation"`
	Server      string             `json:"server"`
	ServerUID   string             `json:"serverUID"`
	ImageDigest string             `json:"imageDigest"`
	FirstBoot   resource.FirstBoot `json:"firstBoot"`
	// Network is that of the boot policy: with any the one boot may be by Pxe or by UefiHttp.
	Network     resource.Network `json:"network,omitempty"`
	MaxAttempts int              `json:"maxAttempts"`
	IssuedAt    time.Time        `json:"issuedAt"`
	// Purpose is the owner's; empty is a claim. Without Repeat it is for one boot.
	Purpose resource.Purpose `json:"purpose,omitempty"`
	Repeat  bool             `json:"repeat,omitempty"`
	// Over says that it may install over what an earlier generation of the same claim has
	// installed. Without it nothing does.
	Over bool `json:"over,omitempty"`
}

// MaxServersPerShard bounds the servers in one RackDoc shard so that a shard
// stays well under the message cap of 128 KiB.
const MaxServersPerShard = 50
