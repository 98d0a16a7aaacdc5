package secret

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// retryAfter is the pause before a key that could not be had is asked for again.
const retryAfter = time.Minute

// Config is what a Vault needs.
type Config struct {
	// Current is where the key that encrypts comes from; nil is none: Secrets are
	// refused, and those that there are stay as they are.
	Current *Source
	// Previous decrypt only, while a rotation is under way.
	Previous   []Source
	Getenv     func(string) string
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Vault encrypts and decrypts Secrets. A Vault that has no key, or the wrong one, says
// so at each use and stops nothing else. It is safe for concurrent use.
type Vault struct {
	cfg Config

	keys    sync.Mutex // one Rekey at a time
	mu      sync.RWMutex
	secrets *store.Secrets
	meta    *store.Meta
	ring    ring
	digest  key   // of digests; none while problem is set
	problem error // why nothing can be encrypted
}

// New makes a Vault without keys; Start gives it those.
func New(cfg Config) *Vault {
	v := &Vault{cfg: cfg}
	v.problem = v.none()
	cfg.Registerer.MustRegister(newMetrics(v))
	return v
}

func (v *Vault) none() error {
	if v.cfg.Current != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "use secrets", "the key-encryption key was not read yet").WithHint("try again")
	}
	return protocol.Errorf(protocol.CodeUnavailable, "use secrets", "this hub has no key-encryption key").
		WithHint("make one, (umask 077; openssl rand -hex 32 >/etc/rackboot/secrets.key), name it in the hub's file, secrets: {keyFile: /etc/rackboot/secrets.key}, and start the hub again; keep a copy of it elsewhere")
}

// Start reads the keys, and encrypts anew what is under a previous one. What is wrong is
// logged, kept and tried again by Run.
func (v *Vault) Start(ctx context.Context, secrets *store.Secrets, meta *store.Meta) {
	v.mu.Lock()
	v.secrets, v.meta = secrets, meta
	v.mu.Unlock()
	if v.cfg.Current == nil {
		if n := len(secrets.List()); n > 0 {
			v.cfg.Logger.Error("there are secrets and no key-encryption key is configured; none of them can be used", "secrets", n)
		}
		return
	}
	done, err := v.Rekey(ctx)
	if err != nil {
		v.cfg.Logger.Error("secrets cannot be used", "err", err)
		return
	}
	v.cfg.Logger.Info("secrets can be used", "key", done.Key, "rewrapped", done.Rewrapped, "unreadable", done.Unreadable)
}

// Run asks again for a key that could not be had, until ctx ends.
func (v *Vault) Run(ctx context.Context) error {
	tick := time.NewTicker(retryAfter)
	defer tick.Stop()
	return v.run(ctx, tick.C)
}

func (v *Vault) run(ctx context.Context, due <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due:
		}
		if v.cfg.Current == nil || v.Problem() == nil {
			continue
		}
		if done, err := v.Rekey(ctx); err != nil {
			v.cfg.Logger.Warn("secrets still cannot be used", "err", err)
		} else {
			v.cfg.Logger.Info("secrets can be used again", "key", done.Key)
		}
	}
}

// Problem says why nothing can be encrypted; nil if it can.
func (v *Vault) Problem() error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.problem
}

// Digest implements store.Vault. The code is unavailable, or that of getting the key.
func (v *Vault) Digest(name string, t resource.SecretType, data resource.SecretData) (string, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.problem != nil {
		return "", v.problem
	}
	plain, err := data.Reveal()
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, "digest secret", "it cannot be encoded")
	}
	mac := hmac.New(sha256.New, v.digest.raw)
	for _, part := range [][]byte{[]byte(name), []byte(t), plain} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))) //nolint:errcheck // a hash does not fail
		mac.Write(part)                                                  //nolint:errcheck // the same
	}
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil)), nil
}

// Seal implements store.Vault. The code is unavailable, or that of getting the key.
func (v *Vault) Seal(id store.SecretID, data resource.SecretData) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.problem != nil {
		return nil, v.problem
	}
	return pack(v.ring.current, id, data)
}

// Open decrypts a Secret. The codes are unavailable, for a key that is not configured
// or cannot be had, internal, for one that is damaged, and unsupported.
func (v *Vault) Open(s store.StoredSecret) (resource.SecretData, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	data, err := v.ring.unpack(s.SecretID, s.Envelope)
	if err != nil && v.ring.current.id == "" && v.problem != nil {
		return nil, v.problem // it says why there is no key at all
	}
	return data, err
}

// digestMeta is where the key of digests is kept, encrypted.
const digestMeta = "secret-digest"

// wrapped is a key of the hub's own under a key-encryption key.
type wrapped struct {
	Key    string `json:"key"`
	Sealed []byte `json:"sealed"`
}

// digestKey reads the key of digests, or makes it, and puts it under the current
// key-encryption key.
func digestKey(ctx context.Context, meta *store.Meta, keys ring) (key, error) {
	const op = "read the key of digests"
	for {
		var have wrapped
		digest, fresh := randomKey(), true
		raw, revision, err := meta.Get(digestMeta)
		switch {
		case err == nil && json.Unmarshal(raw, &have) != nil:
			return key{}, protocol.Errorf(protocol.CodeInternal, op, "it is damaged")
		case err == nil:
			kek, err := keys.find(have.Key)
			if err != nil {
				return key{}, err
			}
			plain, err := kek.open(have.Sealed, aad(useDigest, store.SecretID{}))
			if err != nil {
				return key{}, protocol.Errorf(protocol.CodeInternal, op, "it is damaged")
			}
			digest, fresh = newKey(plain), have.Key != keys.current.id
		case protocol.CodeOf(err) != protocol.CodeNotFound:
			return key{}, err
		}
		if !fresh {
			return digest, nil
		}
		have.Key = keys.current.id
		if have.Sealed, err = keys.current.seal(digest.raw, aad(useDigest, store.SecretID{})); err != nil {
			return key{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		if raw, err = json.Marshal(have); err != nil {
			return key{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		if err = meta.Put(ctx, digestMeta, raw, revision); protocol.CodeOf(err) != protocol.CodeConflict {
			return digest, err
		}
	}
}
