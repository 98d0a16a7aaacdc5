package secret

import (
	"encoding/json"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// envelope is the stored form of one version of a Secret's data.
type envelope struct {
	Format int    `json:"format"`
	Key    string `json:"key"`    // id of the key-encryption key
	Sealed []byte `json:"sealed"` // the data key, with its nonce
	Data   []byte `json:"data"`   // with its nonce
}

// format is the present one; a hub that knows only older ones says so.
const format = 1

// pack encrypts data for one version of a Secret.
func pack(kek key, id store.SecretID, data resource.SecretData) ([]byte, error) {
	const op = "encrypt secret"
	plain, err := data.Reveal()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%q cannot be encoded", id.Name)
	}
	dek := randomKey()
	e := envelope{Format: format, Key: kek.id}
	if e.Data, err = dek.seal(plain, aad(useData, id)); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%q: %w", id.Name, err)
	}
	if e.Sealed, err = kek.seal(dek.raw, aad(useKey, id)); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%q: %w", id.Name, err)
	}
	return json.Marshal(e)
}

// parse reads an envelope. The codes are internal and unsupported.
func parse(raw []byte) (e envelope, err error) {
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, protocol.Errorf(protocol.CodeInternal, "read envelope", "it is damaged").WithHint("set the secret again: rackctl secret set")
	}
	if e.Format != format {
		return e, protocol.Errorf(protocol.CodeUnsupported, "read envelope", "its format is %d, and this hub knows %d", e.Format, format).
			WithHint("a newer hub has written it; start that version")
	}
	return e, nil
}

// dataKey is the data key of an envelope.
func (r ring) dataKey(id store.SecretID, e envelope) (key, error) {
	kek, err := r.find(e.Key)
	if err != nil {
		return key{}, err
	}
	raw, err := kek.open(e.Sealed, aad(useKey, id))
	if err != nil || len(raw) != keySize {
		return key{}, damaged(id)
	}
	return newKey(raw), nil
}

// unpack decrypts an envelope. The codes are unavailable, for a key that is not
// configured, internal and unsupported.
func (r ring) unpack(id store.SecretID, raw []byte) (resource.SecretData, error) {
	e, err := parse(raw)
	if err != nil {
		return nil, err
	}
	dek, err := r.dataKey(id, e)
	if err != nil {
		return nil, err
	}
	plain, err := dek.open(e.Data, aad(useData, id))
	if err != nil {
		return nil, damaged(id)
	}
	var data resource.SecretData
	if json.Unmarshal(plain, &data) != nil {
		return nil, damaged(id)
	}
	return data, nil
}

// rewrap encrypts the data key of an envelope with the current key; nil if it is so
// already.
func (r ring) rewrap(id store.SecretID, raw []byte) ([]byte, error) {
	e, err := parse(raw)
	if err != nil || e.Key == r.current.id {
		return nil, err
	}
	dek, err := r.dataKey(id, e)
	if err != nil {
		return nil, err
	}
	e.Key = r.current.id
	if e.Sealed, err = r.current.seal(dek.raw, aad(useKey, id)); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "rewrap secret", "%q: %w", id.Name, err)
	}
	return json.Marshal(e)
}

func damaged(id store.SecretID) error {
	return protocol.Errorf(protocol.CodeInternal, "decrypt secret", "version %d of %q is damaged, or was not encrypted for it", id.Version, id.Name).
		WithHint("set it again: rackctl secret set %s", id.Name)
}

// ring is the key-encryption keys in use: the current one encrypts, all decrypt.
type ring struct {
	current  key
	previous []key
}

func (r ring) find(id string) (key, error) {
	if r.current.id != "" && r.current.id == id {
		return r.current, nil
	}
	for _, k := range r.previous {
		if k.id == id {
			return k, nil
		}
	}
	have := "none is configured"
	if r.current.id != "" {
		have = "the configured one is " + r.current.id
	}
	return key{}, protocol.Errorf(protocol.CodeUnavailable, "decrypt secret", "it is encrypted under key %.16q; %s", id, have).
		WithHint("configure that key under secrets in the hub's file, as the current or a previous one; nothing is lost until it is")
}
