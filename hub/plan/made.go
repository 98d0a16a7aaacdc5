package plan

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Made is what the hub has made for agents already, and what it keeps from them for now.
type Made struct {
	// ReleasesWait are released holds whose release does not travel yet; see ReleaseWaits.
	ReleasesWait map[string]bool
	// HoldsWait are holds that do not travel yet; see HoldWaits.
	HoldsWait map[string]bool
	// Approvals are the signed approvals that travel, by rack.
	Approvals map[string][][]byte
	// Shards are the shards in which servers travelled last, by server.
	Shards map[string]int
	// Sealed are the credentials of BMCs as they were sealed for the agents of their
	// racks, by BMC.
	Sealed map[string]*message.SealedCredentials
	// Ignitions is the user data as it was sealed for the agents of their racks, by boot
	// configuration.
	Ignitions map[string]message.IgnitionIntent
	// FormerIgnitions is likewise that of what they may return to.
	FormerIgnitions map[string]message.IgnitionIntent
	// Envs are the environments as they were sealed for the agents of their racks, by boot
	// configuration.
	Envs map[string]message.EnvIntent
	// Keep are the files that agents keep for a return to an earlier image, by rack.
	Keep map[string]*message.KeepIntent
	// Packages are the signed manifests of the packages that open orders to agents are of, by digest.
	Packages map[string][]byte
	// Freezes are those of any rack; there are few.
	Freezes []*resource.Freeze
}
