package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// KeptStub is one version of a Secret of type ignition that a revision of a group names,
// encrypted as it was. A Secret has its last version only, and a group that returns to an
// older image gets the user data back that went with it.
type KeptStub struct {
	SecretID
	Envelope json.RawMessage `json:"sealed"`
}

const stubBucket = "stub"

func stubKey(uid string, version uint64) string {
	return fmt.Sprintf("%s.%s-%d", stubBucket, strings.ToLower(uid), version)
}

// KeepStub keeps the present version of a Secret, if it is the one that is named. Keeping
// it again changes nothing. The codes are not_found, conflict, unavailable and timeout.
func (ss *Secrets) KeepStub(ctx context.Context, ref resource.IgnitionRef) error {
	const op = "keep user data"
	key := stubKey(ref.UID, ref.Version)
	if _, there := ss.core.mirror.get(key); there {
		return nil
	}
	v, err := ss.Get(ref.Secret)
	if err != nil {
		return err
	}
	if v.UID != ref.UID || v.Version != ref.Version {
		return protocol.Errorf(protocol.CodeConflict, op, "Secret %q has version %d, and not %d", ref.Secret, v.Version, ref.Version).WithHint("it was changed just now; try again")
	}
	value, err := json.Marshal(KeptStub{v.SecretID, v.Envelope})
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if _, err := ss.core.put(ctx, key, value, 0); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Stub is the encrypted data of a version of a Secret: the Secret's own if that is
// it, or what was kept. The codes are not_found and internal.
func (ss *Secrets) Stub(ref resource.IgnitionRef) (StoredSecret, error) {
	const op = "read user data"
	own, err := ss.Get(ref.Secret)
	if err == nil && own.UID == ref.UID && own.Version == ref.Version {
		return own, nil
	}
	e, ok := ss.core.mirror.get(stubKey(ref.UID, ref.Version))
	switch {
	case !ok && err != nil:
		return StoredSecret{}, err
	case !ok:
		return StoredSecret{}, protocol.Errorf(protocol.CodeNotFound, op, "version %d of Secret %s is gone: there is version %d", ref.Version, ref.Secret, own.Version)
	}
	return decodeStub(e)
}

func decodeStub(e cached) (StoredSecret, error) {
	var v KeptStub
	if err := json.Unmarshal(e.Value, &v); err != nil || len(v.Envelope) == 0 {
		return StoredSecret{}, protocol.Errorf(protocol.CodeInternal, "read user data", "stored %s cannot be read", e.Key)
	}
	return StoredSecret{SecretID: v.SecretID, Envelope: v.Envelope, Revision: e.Revision, kept: e.Key}, nil
}

func (ss *Secrets) kept() (out []StoredSecret) {
	for _, e := range ss.core.mirror.list(stubBucket) {
		v, err := decodeStub(*e)
		if err != nil {
			ss.core.logger.Error("kept user data cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, v)
	}
	return out
}

func (ss *Secrets) rewrapKept(ctx context.Context, v StoredSecret) error {
	const op = "rewrap secret"
	value, err := json.Marshal(KeptStub{v.SecretID, v.Envelope})
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if _, err := ss.core.put(ctx, v.kept, value, v.Revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// SweepStubs removes the kept versions that no revision of a group names, and no boot
// configuration. The codes are conflict, unavailable and timeout.
func (ss *Secrets) SweepStubs(ctx context.Context) error {
	entries := ss.core.mirror.list(stubBucket)
	if len(entries) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, r := range List[*resource.GroupRevision](ss.objects) {
		if ref := r.Spec.Stub; ref != nil {
			named[stubKey(ref.UID, ref.Version)] = true
		}
	}
	for _, b := range List[*resource.BootConfiguration](ss.objects) {
		if ref := b.Spec.Ignition; ref != nil {
			named[stubKey(ref.UID, ref.Version)] = true
		}
	}
	for _, e := range entries {
		if named[e.Key] {
			continue
		}
		if err := ss.core.remove(ctx, e.Key, e.Revision); err != nil {
			return stateError("remove kept user data", err)
		}
	}
	return nil
}
