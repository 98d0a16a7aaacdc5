package store

import (
	"context"
	"encoding/json"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// StoredSecret is a Secret's encrypted data.
type StoredSecret struct {
	SecretID
	Envelope []byte
	Revision uint64 // of the Secret, or of what was kept of it
	// kept is the key of a version that was kept apart; empty for the Secret's own.
	kept string
}

// Secret is the encrypted data of a Secret. The codes are not_found, and internal if it
// cannot be read.
func (s *Store) Secret(name string) (StoredSecret, error) {
	const op = "read secret"
	e, ok := s.core.mirror.get(keyOf(resource.KindSecret, name))
	if !ok {
		return StoredSecret{}, notFound(op, resource.KindSecret, name)
	}
	v := storedSecret{Secret: &resource.Secret{}}
	if err := json.Unmarshal(e.Value, &v); err != nil || len(v.Sealed) == 0 {
		return StoredSecret{}, protocol.Errorf(protocol.CodeInternal, op, "stored %s cannot be read", e.Key)
	}
	return StoredSecret{SecretID: SecretID{name, v.Metadata.UID, v.Status.Version}, Envelope: v.Sealed, Revision: e.Revision}, nil
}

// Secrets are the encrypted data of all Secrets, by name, and after them the versions that
// were kept apart. One that cannot be read is left out; it was logged when it came.
func (s *Store) Secrets() (out []StoredSecret) {
	for _, obj := range List[*resource.Secret](s) {
		if v, err := s.Secret(obj.Metadata.Name); err == nil {
			out = append(out, v)
		}
	}
	return append(out, s.keptSecrets()...)
}

// Rewrap replaces the envelope of a Secret by one of the same data under another key.
// The codes are not_found, conflict, unavailable and timeout.
func (s *Store) Rewrap(ctx context.Context, v StoredSecret) error {
	const op = "rewrap secret"
	if v.kept != "" {
		return s.rewrapKept(ctx, v)
	}
	obj, err := Get[*resource.Secret](s, v.Name)
	if err != nil {
		return err
	}
	value, err := encodeSecret(obj, v.Envelope)
	if err != nil {
		return err
	}
	if _, err := s.transact(ctx, []change{changeOf(obj, obj, v.Revision, value)}, nil, false); err != nil {
		return stateError(op, err)
	}
	return nil
}

// dataVerdict is what becomes of the data of a Secret that is applied.
type dataVerdict string

const (
	dataMissing dataVerdict = "missing" // refused: there is nothing to keep
	dataNeeded  dataVerdict = "needed"  // refused: data of another type has other names
	dataStays   dataVerdict = "stays"
	dataNext    dataVerdict = "next" // the next version
)

// judgeData decides. The first row that fits decides.
//
//	data | stored | type stays | same digest | verdict
//	no   | no     | *          | *           | missing
//	no   | yes    | no         | *           | needed
//	no   | yes    | yes        | *           | stays
//	yes  | yes    | *          | yes         | stays
//	yes  | *      | *          | *           | next
func judgeData(data, stored, sameType, sameDigest bool) dataVerdict {
	switch {
	case !data && !stored:
		return dataMissing
	case !data && !sameType:
		return dataNeeded
	case !data, stored && sameDigest:
		return dataStays
	default:
		return dataNext
	}
}

// encrypt gives the Secret of an Apply its version and digest, and its data an
// envelope.
func (s *Store) encrypt(c *checker, i int, it *applyItem, data resource.SecretData) error {
	next := it.next.(*resource.Secret)
	old, stored := it.old.(*resource.Secret)
	digest := ""
	if next.Spec.Type == resource.SecretIgnition && data != nil && s.checkIgnition != nil {
		if errs := s.checkIgnition(data[resource.SecretUserData]); len(errs) > 0 {
			for _, e := range errs {
				c.add(i, "spec.data."+resource.SecretUserData, "at %s: %s", e.Path, e.Message)
			}
			return nil
		}
	}
	if data != nil {
		if s.vault == nil {
			return protocol.Errorf(protocol.CodeUnavailable, "encrypt secret "+next.Metadata.Name, "this hub has no vault").
				WithHint("configure secrets in the hub's file")
		}
		var err error
		if digest, err = s.vault.Digest(next.Metadata.Name, next.Spec.Type, data); err != nil {
			return err
		}
	}
	switch judgeData(data != nil, stored, stored && old.Spec.Type == next.Spec.Type, stored && old.Status.Digest == digest) {
	case dataMissing:
		c.add(i, "spec.data", "a new secret needs its data")
		return nil
	case dataNeeded:
		c.add(i, "spec.data", "give the data too where the type changes")
		return nil
	case dataStays:
		return s.keepData(it)
	case dataNext:
	}
	var err error
	now := s.core.clock().UTC()
	next.Status.Version, next.Status.Digest, next.Status.ChangedAt = next.Status.Version+1, digest, &now
	next.Status.Rotation = nil
	if stored {
		next.Metadata.Generation = old.Metadata.Generation + 1
		it.outcome = Configured
	}
	it.envelope, err = s.vault.Seal(SecretID{next.Metadata.Name, next.Metadata.UID, next.Status.Version}, data)
	return err
}

func (s *Store) keepData(it *applyItem) error {
	have, err := s.Secret(it.old.Head().Metadata.Name)
	it.envelope = have.Envelope
	return err
}

// encodeItem is the stored form of what an Apply writes.
func encodeItem(it applyItem) ([]byte, error) {
	if secret, ok := it.next.(*resource.Secret); ok {
		return encodeSecret(secret, it.envelope)
	}
	return encode(it.next)
}

// takeData takes the data out of the Secret of an Apply, so that nothing that is logged,
// compared or returned has it.
func takeData(obj resource.Object) resource.SecretData {
	secret, ok := obj.(*resource.Secret)
	if !ok {
		return nil
	}
	data := secret.Spec.Data
	secret.Spec.Data = nil
	return data
}

// SecretUsers are the resources that refer to a Secret, in order.
func (s *Store) SecretUsers(name string) []string {
	who := s.referring(resource.KindSecret, name, resource.KindBMC, resource.KindSegment, resource.KindClaim, resource.KindMaintenance, resource.KindServer, resource.KindProfile, resource.KindServerGroup)
	slices.Sort(who)
	return who
}
