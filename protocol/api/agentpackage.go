package api

import (
	"net/url"
	"strconv"
	"time"
)

// PathAgentPackages are the packages of agents.
const PathAgentPackages = "/v1/agentpackages"

// PathAgentPackage is the route of one package, by the digest of its signed manifest.
func PathAgentPackage(digest string) string { return PathAgentPackages + "/" + url.PathEscape(digest) }

// PathAgentProgram is the route that takes the next piece of the program for an architecture.
func PathAgentProgram(digest, architecture string, offset int64) string {
	return PathAgentPackage(digest) + "/programs/" + url.PathEscape(architecture) + "?offset=" + strconv.FormatInt(offset, 10)
}

// AgentPackageRequest pushes a package: its manifest first.
type AgentPackageRequest struct {
	// Manifest is the signed manifest, at most 4 KiB, as the package file has it.
	Manifest []byte `json:"manifest"`
}

// AgentPackage is a package of agents that was pushed.
type AgentPackage struct {
	// Digest is sha256:<hex> of the signed manifest; an AgentUpgrade names it.
	Digest  string `json:"digest"`
	Version string `json:"version"`
	// From is the lowest version that may be upgraded to it; empty is any.
	From string `json:"from,omitempty"`
	// Protocol is the newest of the link that its programs speak.
	Protocol int       `json:"protocol"`
	MadeAt   time.Time `json:"madeAt"`
	// Programs are those of the manifest; Whole says that all of them are here, so that it can be ordered.
	Programs []AgentProgram `json:"programs"`
	Whole    bool           `json:"whole"`
	// Key names the key in upgrade.keys of the hub's file that signed it; empty where that file has no keys, and the hub has
	// verified nothing.
	Key        string    `json:"key,omitempty"`
	UploadedAt time.Time `json:"uploadedAt"`
	UploadedBy string    `json:"uploadedBy"`
	// Upgrades are the AgentUpgrades that name it, Agents those with an open order to run it.
	Upgrades []string `json:"upgrades,omitempty"`
	Agents   []string `json:"agents,omitempty"`
}

// AgentProgram is a program of a package.
type AgentProgram struct {
	Architecture string `json:"architecture"` // amd64, arm64
	SHA256       string `json:"sha256"`       // sha256:<hex>
	Size         int64  `json:"size"`         // bytes
	// Offset is how many bytes are here, and Whole that it is all of them, compared with the manifest.
	Offset int64 `json:"offset"`
	Whole  bool  `json:"whole"`
}

// AgentPackageList is all packages, the newest upload first.
type AgentPackageList struct {
	Items []AgentPackage `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}
