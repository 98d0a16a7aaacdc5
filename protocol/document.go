package protocol

import "time"

// Head orders the versions of one document. A hub restored from a backup takes
// a higher epoch, so that its documents win over what the lost hub had sent.
type Head struct {
	Epoch   uint64 `json:"epoch"`
	Version uint64 `json:"version"`
}

// Newer says whether h replaces o.
func (h Head) Newer(o Head) bool {
	return h.Epoch > o.Epoch || (h.Epoch == o.Epoch && h.Version > o.Version)
}

// HoldDoc is everything that stops servers. It is small and sent first. A hold
// that is missing from a newer HoldDoc stays enforced; only Releases end holds.
type HoldDoc struct {
	Head     Head      `json:"head"`
	Agent    string    `json:"agent"`
	Term     uint64    `json:"term"`
	IssuedAt time.Time `json:"issuedAt"`
	// Fence is that of the hub that signed; zero from hubs of version 1.
	Fence    Fence        `json:"fence,omitzero"`
	Holds    []ActiveHold `json:"holds,omitempty"`
	Releases []Release    `json:"releases,omitempty"`
	Requests []Request    `json:"requests,omitempty"`
}

// RackDoc is one shard of what a rack's servers shall be. It replaces the shard.
// Shard 0 also carries the segments and the rack's stop times.
type RackDoc struct {
	Head     Head           `json:"head"`
	Agent    string         `json:"agent"`
	Term     uint64         `json:"term"`
	IssuedAt time.Time      `json:"issuedAt"`
	Fence    Fence          `json:"fence,omitzero"` // as in HoldDoc
	Shard    int            `json:"shard"`
	Shards   int            `json:"shards"`
	Rack     *RackIntent    `json:"rack,omitempty"`
	Servers  []ServerIntent `json:"servers"`
}

// RackIntent is what concerns the whole rack.
type RackIntent struct {
	Name         string          `json:"name"`
	SoftTimeout  time.Duration   `json:"softTimeout"`
	SettleWindow time.Duration   `json:"settleWindow"`
	PollInterval time.Duration   `json:"pollInterval"`
	Segments     []SegmentIntent `json:"segments,omitempty"`
	// AgentKeys are the Ed25519 keys of all agents that served the rack.
	AgentKeys [][]byte `json:"agentKeys,omitempty"`
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
	// Identity is the one that an operator accepted after it had changed; empty
	// trusts the first that is read.
	Identity string `json:"identity,omitempty"`
	// Claim and ClaimUID are the claim's that the server is bound to.
	Claim    string `json:"claim,omitempty"`
	ClaimUID string `json:"claimUID,omitempty"`
	// Power is the claim's; empty without a claim.
	Power Power `json:"power,omitempty"`
	// Releasing asks for a proven Off before the claim may go.
	Releasing bool `json:"releasing,omitempty"`
	// Boot is what to boot; nil without a claim whose image is validated.
	Boot *BootIntent `json:"boot,omitempty"`
	// Firmware is work under way that must not be interrupted.
	Firmware *FirmwareWork `json:"firmware,omitempty"`
}

// FirmwareWork marks that somebody changes a server's firmware: a stop in the middle
// of it can break the board. Holds wait, unless they say otherwise.
type FirmwareWork struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	// NotAfter ends the mark by the hub's clock, so that a forgotten one does not block
	// holds for ever.
	NotAfter time.Time `json:"notAfter"`
}

// BMCIntent says how to reach the BMC. Credentials stay in the rack.
type BMCIntent struct {
	Name           string `json:"name"`
	Address        string `json:"address"`
	CredentialsRef string `json:"credentialsRef"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	CA             string `json:"ca,omitempty"`
}

// BootIntent is a BootConfiguration as it travels to an agent.
type BootIntent struct {
	Purpose    Purpose    `json:"purpose"`
	Claim      string     `json:"claim"`
	ClaimUID   string     `json:"claimUID"`
	Generation uint64     `json:"generation"` // of the configuration
	Image      Image      `json:"image"`
	Policy     BootPolicy `json:"policy"`
	Grant      []byte     `json:"grant,omitempty"` // signed Grant
	// GrantFor is the incarnation that the grant was first given to. Another one
	// cannot know whether it was used, and does not use it (P4).
	GrantFor    string `json:"grantFor,omitempty"`
	Provisioned []byte `json:"provisioned,omitempty"` // signed Provisioned, echoed
}

// Grant is the hub's one-time permission to network-boot a server for the first
// time under a claim. The agent writes its use to disk before it arms anything.
// MaxAttempts bounds how often a boot that fetched nothing may be tried; once
// the boot file was fetched, the grant is spent whatever happened after (P4).
type Grant struct {
	ClaimUID    string    `json:"claimUID"`
	Generation  uint64    `json:"generation"`
	Server      string    `json:"server"`
	ServerUID   string    `json:"serverUID"`
	ImageDigest string    `json:"imageDigest"`
	FirstBoot   FirstBoot `json:"firstBoot"`
	MaxAttempts int       `json:"maxAttempts"`
	IssuedAt    time.Time `json:"issuedAt"`
}

// Provisioned is the agent's record that the first boot of a configuration
// ended with an installed system. It is never unset for its claim UID and
// generation.
type Provisioned struct {
	ClaimUID    string       `json:"claimUID"`
	Generation  uint64       `json:"generation"`
	Server      string       `json:"server"`
	ServerUID   string       `json:"serverUID"`
	ImageDigest string       `json:"imageDigest"`
	Evidence    EvidenceKind `json:"evidence"`
	At          time.Time    `json:"at"`
	Attempt     string       `json:"attempt"`
}

// Receipt proves that a held server was stopped: at least two reads of exactly
// Off, all after the hold was enforced, over the settle window, with no other
// value between (P3). One with Manual is no proof: an operator said so, and the BMC
// did not answer.
type Receipt struct {
	HoldID string `json:"holdId"`
	Server string `json:"server"`
	Agent  string `json:"agent"`
	Key    string `json:"key"`
	Ref    string `json:"ref,omitempty"`
	// EnforcedAt is when the hold was on the agent's disk. Every process that ran
	// before StoppedSince is stopped.
	EnforcedAt time.Time `json:"enforcedAt"`
	// PowerEpoch counts the server's power-ons; it does not grow under a receipt.
	PowerEpoch uint64 `json:"powerEpoch"`
	// StoppedSince is the first read of Off in the unbroken run of such reads.
	StoppedSince time.Time `json:"stoppedSince"`
	// ConfirmedAt is the read that completed the proof.
	ConfirmedAt time.Time     `json:"confirmedAt"`
	Reads       int           `json:"reads"`
	Settle      time.Duration `json:"settle"`
	// RestorePolicy is AlwaysOff where the BMC was told to keep the server off when
	// mains power returns, and read back; empty where it cannot be told.
	RestorePolicy RestorePolicy `json:"restorePolicy,omitempty"`
	Manual        *Confirmation `json:"manual,omitempty"`
}
