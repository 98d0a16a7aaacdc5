package store

import (
	"bytes"
	"encoding/json"
	"hash/crc32"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// encode makes the stored form: without the revision, which is the entry's, and
// without what is only shown: of a Server's status the accepted identity, the enrolment to forget, the mark of
// firmware work and what there is of discoveries are stored, of a BMC's what decides, and
// of a BootImage's what was proved.
func encode(obj resource.Object) ([]byte, error) {
	meta := &obj.Head().Metadata
	revision := meta.Revision
	meta.Revision = 0
	defer func() { meta.Revision = revision }()
	if srv, ok := obj.(*resource.Server); ok {
		bare := *srv
		was := srv.Status
		bare.Status = resource.ServerStatus{AcceptedIdentity: was.AcceptedIdentity, ForgetTPM: was.ForgetTPM, Architecture: was.Architecture, HeardArchitecture: was.HeardArchitecture, SharedMACs: was.SharedMACs, Firmware: was.Firmware, Settings: was.Settings, Discovered: was.Discovered, Discovery: was.Discovery, BootEnv: was.BootEnv, BootEnvOf: was.BootEnvOf, OS: was.OS, Reboots: was.Reboots}
		return json.Marshal(&bare)
	}
	if i, ok := obj.(*resource.BootImage); ok {
		bare := *i
		bare.Status.Conditions = nil // they are found when it is printed
		return json.Marshal(&bare)
	}
	if e, ok := obj.(*resource.BootEnv); ok {
		bare := *e
		bare.Status = resource.BootEnvStatus{} // it is found when it is printed
		return json.Marshal(&bare)
	}
	if g, ok := obj.(*resource.ServerGroup); ok {
		bare := *g
		bare.Status.Enrolment, bare.Status.Counts, bare.Status.Skew, bare.Status.StubLimit, bare.Status.Conditions, bare.Status.ObservedGeneration = nil, nil, "", "", nil, 0
		return json.Marshal(&bare)
	}
	if secret, ok := obj.(*resource.Secret); ok {
		return encodeSecret(secret, nil) // which refuses it
	}
	if b, ok := obj.(*resource.BMC); ok {
		bare := *b
		bare.Status = resource.BMCStatus{State: b.Status.State, AcceptedBy: b.Status.AcceptedBy, Found: b.Status.Found, Address: b.Status.Address, Rotation: b.Status.Rotation}
		return json.Marshal(&bare)
	}
	return json.Marshal(obj)
}

func decode(kind resource.Kind, e state.Entry) (resource.Object, error) {
	obj := resource.NewObject(kind)
	if obj == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read resource", "%q is not a kind", kind)
	}
	if err := json.Unmarshal(e.Value, obj); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "read resource", "stored %s cannot be read: %w", e.Key, err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	if b, ok := obj.(*resource.BootConfiguration); ok && b.Spec.Owner.UID == "" {
		// As a commit before 0.1.0 wrote it. Unread, it would count as none, and its server
		// would get a first boot anew.
		return nil, protocol.Errorf(protocol.CodeInternal, "read resource", "stored %s names no owner", e.Key).
			WithHint("a hub from before 0.1.0 wrote it: start that one again, or begin in an empty folder")
	}
	obj.Head().Metadata.Revision = e.Revision
	return obj, nil
}

// read decodes an entry that is a resource.
func read(e state.Entry) (cached, error) {
	c := cached{Entry: e}
	bucket, _ := split(e.Key)
	kind, is := kindIn(bucket)
	if !is || e.Deleted {
		return c, nil
	}
	obj, err := decode(kind, e)
	if err == nil {
		c.obj, c.closed = obj, closedOver(e.Value)
		c.slim()
	}
	return c, err
}

// slim leaves the Value of a resource away, if the resource says all that is in it, to the byte:
// what a newer hub has written may say more.
func (c *cached) slim() {
	if made, err := encode(c.obj); err == nil && bytes.Equal(made, c.Value) {
		c.sum, c.Value = crc32.ChecksumIEEE(made), nil
	}
}

// copied is a deep copy of a resource.
func (c cached) copied(kind resource.Kind) (resource.Object, error) {
	if c.obj == nil || c.Value != nil {
		return decode(kind, c.Entry) // which says why it cannot be read
	}
	return clone(c.obj)
}

// value is what is stored of a resource.
func (c cached) value() ([]byte, error) {
	if c.obj == nil || c.Value != nil {
		return c.Value, nil
	}
	own, err := clone(c.obj)
	if err != nil {
		return nil, err
	}
	return encode(own)
}

// storedSecret is the stored form: a Secret without its data, and the envelope in the
// same key, so that there is never one without the other.
type storedSecret struct {
	*resource.Secret
	Sealed json.RawMessage `json:"sealed"`
}

// encodeSecret makes the stored form. What is not the hub's to keep is left out.
func encodeSecret(obj *resource.Secret, envelope []byte) ([]byte, error) {
	if len(envelope) == 0 {
		return nil, protocol.Errorf(protocol.CodeInternal, "write secret", "it has no data; a Secret is written by Apply")
	}
	bare := *obj
	bare.Metadata.Revision, bare.Spec.Data = 0, nil
	bare.Status = resource.SecretStatus{Version: obj.Status.Version, Digest: obj.Status.Digest, ChangedAt: obj.Status.ChangedAt, Rotation: obj.Status.Rotation}
	return json.Marshal(storedSecret{&bare, envelope})
}
