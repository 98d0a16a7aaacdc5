package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Order is what an attempt is begun for. newOrder makes it, and it never changes while the attempt
// lasts: what a token may fetch, and for whom, is known from the first write of the record.
type Order struct {
	Target     protocol.BootTarget `json:"target"`
	OwnerUID   string              `json:"ownerUID"`
	Generation uint64              `json:"generation"`
	// Purpose is the owner's; Repeat is the grant's.
	Purpose resource.Purpose `json:"purpose,omitempty"`
	Repeat  bool             `json:"repeat,omitempty"`
	// Any says that firmware may follow an order of Pxe by HTTP, and one of UefiHttp by PXE.
	Any bool `json:"any,omitempty"`
	// Restart is a boot by ForceRestart, of a server that is not Off; see restartRule.
	Restart bool `json:"restart,omitempty"`
	// Soft is a restart that asks the operating system to stop first.
	Soft bool `json:"soft,omitempty"`
	// Timeout is of a discovery, from the power-on; 0 sets no limit.
	Timeout time.Duration `json:"timeout,omitempty"`
	Digest  string        `json:"digest"`         // of the image
	File    string        `json:"file,omitempty"` // name below the token
	Blob    string        `json:"blob,omitempty"` // digest of that file
	// Chain is all that the machine may fetch. It is never changed in place; nil for a
	// boot from disk.
	Chain *protocol.BootChain `json:"chain,omitempty"`
	// Ignition is the server's user data in this boot; nil without any.
	Ignition *message.IgnitionIntent `json:"ignition,omitempty"`
	// URI gives firmware the URL of File through its BMC. Reach is the intent's: with uri
	// it asks nobody by DHCP that is ours.
	URI   bool           `json:"uri,omitempty"`
	Reach resource.Reach `json:"reach,omitempty"`
	// Through is how the private token goes through the BMC; Secrets how the user data goes.
	Through Through             `json:"through,omitempty"`
	Secrets resource.SecretsWay `json:"secrets,omitempty"`
	// Cleared is the boot that an approval let through; zero where none was needed.
	Cleared ClearedBoot `json:"cleared,omitzero"`
}

// ClearedBoot is a boot that an approval let through.
type ClearedBoot struct {
	Approval string                 `json:"approval"`
	Class    resource.ApprovalClass `json:"class"`
	BootEnv  string                 `json:"bootEnv,omitempty"`
	Digest   string                 `json:"digest"` // of the image
}

// choice is what was decided of a boot that an intent leaves open.
type choice struct {
	target  protocol.BootTarget
	chain   *protocol.BootChain // nil for a boot from disk
	url     bool                // firmware is given the URL of its file through its BMC
	through Through             // how a private token goes there
	restart bool                // of a server that is not Off
	soft    bool                // by GracefulRestart
	// Of a boot from the network: the number of the attempt by its grant, whether that repeats,
	// and what an approval let through.
	number  int
	repeat  bool
	cleared ClearedBoot
}

// newOrder makes the order of a boot for an owner.
func newOrder(owner string, b *message.BootIntent, c choice) Order {
	o := Order{
		Target: c.target, OwnerUID: owner, Generation: b.Generation, Purpose: b.Owner.Kind, Repeat: c.repeat, Restart: c.restart, Soft: c.soft,
		Timeout: b.Timeout, Digest: b.Image.Digest, Chain: c.chain, URI: c.url, Reach: b.Reach, Through: c.through, Cleared: c.cleared,
	}
	if c.chain != nil {
		o.Any = b.BootPolicy.Network.Any()
		o.Ignition, o.File = b.Ignition, c.chain.First
		o.Secrets = secretsRule(needsOf(b), b.Ignition != nil)
		o.Blob, _ = c.chain.Digest(c.chain.First)
	}
	return o
}

// last is the name of the file after whose last byte the operating system may run.
func (o *Order) last() string {
	if o.Chain != nil {
		return o.Chain.Last
	}
	return o.File
}

// fileFor is the file that a client of the class is told of.
func (o *Order) fileFor(class protocol.ClientClass) string {
	if o.Chain != nil {
		return o.Chain.FileFor(class)
	}
	return o.File
}
