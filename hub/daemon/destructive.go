package daemon

import (
	"fmt"
	"path/filepath"

	"rackboot/hub/approval"
	"rackboot/protocol/resource"
)

// DestructiveKey is the key that signs approvals of destructive actions. One of File
// and Public is given, or none.
type DestructiveKey struct {
	// File is its private half, PEM, readable by the hub's user only.
	File string `yaml:"file"`
	// Public is its public half, PEM. A person signs (rackctl approve sign), or Command.
	Public string `yaml:"public"`
	// Command gets the bytes to sign on its standard input, in base64, and prints the
	// signature, in base64. It is run without a shell and has 10 s.
	Command []string `yaml:"command"`
}

// Approvals is how many people must grant an approval, by what it is for.
type Approvals struct {
	BulkStop     *ApprovalRule `yaml:"bulkStop"`
	HoldOverride *ApprovalRule `yaml:"holdOverride"`
	Reprovision  *ApprovalRule `yaml:"reprovision"`
	Wipe         *ApprovalRule `yaml:"wipe"`
	Firmware     *ApprovalRule `yaml:"firmware"`
}

// ApprovalRule is about one class.
type ApprovalRule struct {
	// Approvers is 1 or 2; the second of two is nobody who asked for the action.
	Approvers int `yaml:"approvers"`
}

func (c *Config) checkDestructive() error {
	k := c.DestructiveKey
	switch {
	case k.File != "" && (k.Public != "" || len(k.Command) > 0):
		return fmt.Errorf("destructiveKey: give either file, or public with or without command")
	case len(k.Command) > 0 && k.Public == "":
		return fmt.Errorf("destructiveKey.public is needed: the public half of the key that command signs with")
	case len(k.Command) > 0 && !filepath.IsAbs(k.Command[0]):
		return fmt.Errorf("destructiveKey.command: %q is not an absolute path", k.Command[0])
	}
	_, err := c.policy()
	return err
}

func (c *Config) policy() (approval.Policy, error) {
	p := approval.Policy{}
	for _, r := range []struct {
		name  string
		class resource.ApprovalClass
		rule  *ApprovalRule
	}{
		{"bulkStop", resource.ApproveBulkStop, c.Approvals.BulkStop},
		{"holdOverride", resource.ApproveHoldOverride, c.Approvals.HoldOverride},
		{"reprovision", resource.ApproveReprovision, c.Approvals.Reprovision},
		{"wipe", resource.ApproveWipe, c.Approvals.Wipe},
		{"firmware", resource.ApproveFirmware, c.Approvals.Firmware},
	} {
		if r.rule == nil {
			continue
		}
		if n := r.rule.Approvers; n < 1 || n > approval.MaxApprovers {
			return nil, fmt.Errorf("approvals.%s.approvers: %d is not 1 or 2", r.name, n)
		}
		p[r.class] = r.rule.Approvers
	}
	return p, nil
}

// readDestructive is the destructive key; nil without one.
func (c *Config) readDestructive() (*approval.Key, error) {
	switch k := c.DestructiveKey; {
	case k.File != "":
		return approval.ReadPrivate(k.File)
	case k.Public != "":
		return approval.ReadPublic(k.Public, k.Command)
	}
	return nil, nil
}
