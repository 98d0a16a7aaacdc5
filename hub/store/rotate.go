package store

import (
	"context"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// SecretWrite is a Secret of type bmc-credentials as the hub itself writes it.
type SecretWrite struct {
	Name     string
	Revision uint64 // 0 creates
	// Data may have names besides those that people may write, with a dot in them.
	Data     resource.SecretData
	Rotation *resource.Rotation
	// SameVersion: what agents are sent does not change.
	SameVersion bool
}

// Write writes the account of a BMC, encrypted. The digest is of what people may
// write, so that an Apply of the same account is no change. The codes are invalid,
// conflict, not_found, unavailable and timeout.
func (ss *Secrets) Write(ctx context.Context, w SecretWrite) error {
	const op = "write secret"
	if ss.vault == nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "this hub has no vault").WithHint("configure secrets in the hub's file")
	}
	var err error
	obj := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretBMC}}
	if w.Revision == 0 {
		obj.Metadata.Name = w.Name
		obj.Default()
		if wrong := obj.Validate(); len(wrong) > 0 {
			return protocol.Errorf(protocol.CodeInvalid, op, "%w", wrong)
		}
		ss.objects.stamp(&obj.Metadata)
	} else if obj, err = Get[*resource.Secret](ss.objects, w.Name); err != nil {
		return err
	}
	public := resource.SecretData{}
	for name, value := range w.Data {
		if !strings.Contains(name, ".") {
			public[name] = value
		}
	}
	digest, err := ss.vault.Digest(w.Name, obj.Spec.Type, public)
	if err != nil {
		return err
	}
	now := ss.core.clock().UTC()
	obj.Status.Rotation = w.Rotation
	if !w.SameVersion {
		obj.Status.Version, obj.Status.Digest, obj.Status.ChangedAt = obj.Status.Version+1, digest, &now
		obj.Metadata.Generation++
	}
	envelope, err := ss.vault.Seal(SecretID{w.Name, obj.Metadata.UID, obj.Status.Version}, w.Data)
	if err != nil {
		return err
	}
	value, err := encodeSecret(obj, envelope)
	if err != nil {
		return err
	}
	if _, err := ss.objects.transact(ctx, []change{changeOf(obj, obj, w.Revision, value)}, nil, false); err != nil {
		return stateError(op, err)
	}
	return nil
}
