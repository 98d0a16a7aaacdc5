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

// Secrets are kept encrypted: a Secret's data, and the versions of user data that revisions of groups name.
type Secrets struct {
	core    *core
	objects *Objects
	vault   Vault
	// checkIgnition says what is wrong with user data.
	checkIgnition func([]byte) protocol.FieldErrors
}

// Get is the encrypted data of a Secret. The codes are not_found, and internal if it
// cannot be read.
func (ss *Secrets) Get(name string) (StoredSecret, error) {
	const op = "read secret"
	e, ok := ss.core.mirror.get(keyOf(resource.KindSecret, name))
	if !ok {
		return StoredSecret{}, notFound(op, resource.KindSecret, name)
	}
	v := storedSecret{Secret: &resource.Secret{}}
	if err := json.Unmarshal(e.Value, &v); err != nil || len(v.Sealed) == 0 {
		return StoredSecret{}, protocol.Errorf(protocol.CodeInternal, op, "stored %s cannot be read", e.Key)
	}
	return StoredSecret{SecretID: SecretID{name, v.Metadata.UID, v.Status.Version}, Envelope: v.Sealed, Revision: e.Revision}, nil
}

// List are the encrypted data of all Secrets, by name, and after them the versions that
// were kept apart. One that cannot be read is left out; it was logged when it came.
func (ss *Secrets) List() (out []StoredSecret) {
	for _, obj := range List[*resource.Secret](ss.objects) {
		if v, err := ss.Get(obj.Metadata.Name); err == nil {
			out = append(out, v)
		}
	}
	return append(out, ss.kept()...)
}

// Rewrap replaces the envelope of a Secret by one of the same data under another key.
// The codes are not_found, conflict, unavailable and timeout.
func (ss *Secrets) Rewrap(ctx context.Context, v StoredSecret) error {
	const op = "rewrap secret"
	if v.kept != "" {
		return ss.rewrapKept(ctx, v)
	}
	obj, err := Get[*resource.Secret](ss.objects, v.Name)
	if err != nil {
		return err
	}
	value, err := encodeSecret(obj, v.Envelope)
	if err != nil {
		return err
	}
	if _, err := ss.objects.transact(ctx, []change{changeOf(obj, obj, v.Revision, value)}, nil, false); err != nil {
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

// Users are the resources that refer to a Secret, in order.
func (ss *Secrets) Users(name string) []string {
	who := ss.objects.referring(resource.KindSecret, name, resource.KindBMC, resource.KindSegment, resource.KindClaim, resource.KindMaintenance, resource.KindServer, resource.KindProfile, resource.KindServerGroup)
	who = append(who, ss.objects.managedStubUsers(name)...)
	slices.Sort(who)
	return who
}
