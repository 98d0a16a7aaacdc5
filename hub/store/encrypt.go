package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// encrypt gives the Secret of an Apply its version and digest, and its data an
// envelope.
func (st *Sets) encrypt(c *checker, i int, it *applyItem, data resource.SecretData) error {
	next := it.next.(*resource.Secret)
	old, stored := it.old.(*resource.Secret)
	digest := ""
	if next.Spec.Type == resource.SecretIgnition && data != nil && st.secrets.checkIgnition != nil {
		if errs := st.secrets.checkIgnition(data[resource.SecretUserData]); len(errs) > 0 {
			for _, e := range errs {
				c.add(i, "spec.data."+resource.SecretUserData, "at %s: %s", e.Path, e.Message)
			}
			return nil
		}
	}
	if data != nil {
		if st.secrets.vault == nil {
			return protocol.Errorf(protocol.CodeUnavailable, "encrypt secret "+next.Metadata.Name, "this hub has no vault").
				WithHint("configure secrets in the hub's file")
		}
		var err error
		if digest, err = st.secrets.vault.Digest(next.Metadata.Name, next.Spec.Type, data); err != nil {
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
		return st.keepData(it)
	case dataNext:
	}
	var err error
	now := st.core.clock().UTC()
	if !stored {
		next.Status.Version = st.secrets.lastNamed(next.Metadata.Name)
	}
	next.Status.Version, next.Status.Digest, next.Status.ChangedAt = next.Status.Version+1, digest, &now
	next.Status.Rotation = nil
	if stored {
		next.Metadata.Generation = old.Metadata.Generation + 1
		it.outcome = Configured
	}
	it.envelope, err = st.secrets.vault.Seal(SecretID{next.Metadata.Name, next.Metadata.UID, next.Status.Version}, data)
	return err
}

func (st *Sets) keepData(it *applyItem) error {
	have, err := st.secrets.Get(it.old.Head().Metadata.Name)
	it.envelope = have.Envelope
	return err
}
