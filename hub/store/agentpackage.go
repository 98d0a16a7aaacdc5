package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// AgentPackage is an uploaded package of agents in the book: its signed manifest. Its programs are contents of the shelf
// of uploaded files.
type AgentPackage struct {
	Digest   string `json:"digest"` // of Manifest
	Manifest []byte `json:"manifest"`
	// Key names the publisher's key by which the hub verified it; empty where the hub has no such keys.
	Key        string    `json:"key,omitempty"`
	UploadedAt time.Time `json:"uploadedAt"`
	UploadedBy string    `json:"uploadedBy"`
	Revision   uint64    `json:"-"` // for compare-and-set; 0 creates
}

// AgentPackages is the book of packages.
type AgentPackages struct{ core *core }

func agentPackageKey(digest string) string {
	return agentPackageBucket + "." + strings.TrimPrefix(digest, "sha256:")
}

// Get is the package of a digest; not_found if there is none.
func (p *AgentPackages) Get(digest string) (AgentPackage, error) {
	const op = "get agent package"
	if !protocol.ValidDigest(digest) {
		return AgentPackage{}, protocol.Errorf(protocol.CodeInvalid, op, "%.100q is not sha256: and 64 lower-case hex digits", digest).WithHint("rackctl agent-package get lists the packages")
	}
	e, ok := p.core.mirror.get(agentPackageKey(digest))
	if !ok {
		return AgentPackage{}, protocol.Errorf(protocol.CodeNotFound, op, "no package %s was uploaded", digest).WithHint("rackctl agent-package get lists the packages; rackctl agent-package push FILE uploads one")
	}
	return decodeAgentPackage(e)
}

// List lists the packages, the newest upload first. One that cannot be read is left out and logged.
func (p *AgentPackages) List() (out []AgentPackage) {
	for _, e := range p.core.mirror.list(agentPackageBucket) {
		a, err := decodeAgentPackage(*e)
		if err != nil {
			p.core.logger.Error("a package of agents cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b AgentPackage) int {
		return cmp.Or(b.UploadedAt.Compare(a.UploadedAt), cmp.Compare(a.Digest, b.Digest))
	})
	return out
}

// Put writes a package: compare-and-set on its revision, which it updates. The codes are conflict, unavailable and timeout.
func (p *AgentPackages) Put(ctx context.Context, a *AgentPackage) error {
	const op = "put agent package"
	value, err := json.Marshal(a)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if a.Revision, err = p.core.put(ctx, agentPackageKey(a.Digest), value, a.Revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Remove takes a package out of the book at its revision. The codes are conflict, unavailable and timeout.
func (p *AgentPackages) Remove(ctx context.Context, a AgentPackage) error {
	if err := p.core.remove(ctx, agentPackageKey(a.Digest), a.Revision); err != nil {
		return stateError("remove agent package", err)
	}
	return nil
}

func decodeAgentPackage(e cached) (a AgentPackage, err error) {
	if err := json.Unmarshal(e.Value, &a); err != nil {
		return a, protocol.Errorf(protocol.CodeInternal, "read agent package", "%w", err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	a.Revision = e.Revision
	return a, nil
}
