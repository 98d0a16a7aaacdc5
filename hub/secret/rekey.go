package secret

import (
	"context"
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// rewrapTries bounds how often a Secret is encrypted anew after somebody else wrote it.
const rewrapTries = 8

// Rekey reads the keys again and encrypts every Secret's data key with the current
// one. A crash or an error in between leaves some under a previous key, which still
// decrypts them; the same again does the rest. What is under a key that is not
// configured stays as it is, and is counted. If the keys cannot be had, those that were
// in use stay so. The codes are those of getting a key, unavailable for the wrong one,
// conflict and timeout.
func (v *Vault) Rekey(ctx context.Context) (done api.Rekeyed, err error) {
	const op = "rotate the key of secrets"
	v.keys.Lock()
	defer v.keys.Unlock()
	if v.cfg.Current == nil {
		return done, v.none()
	}
	keys, err := v.read(ctx)
	if err != nil {
		return done, v.fail(err)
	}
	v.mu.RLock()
	secrets, meta := v.secrets, v.meta
	v.mu.RUnlock()
	digest, err := digestKey(ctx, meta, keys)
	if err != nil {
		return done, v.fail(err)
	}
	v.mu.Lock()
	v.ring, v.digest, v.problem = keys, digest, nil
	v.mu.Unlock()
	done.Key = keys.current.id
	for try, again := 1, true; again; try++ {
		again = false
		done.Secrets, done.Unreadable = 0, 0
		for _, s := range secrets.List() {
			done.Secrets++
			next, err := keys.rewrap(s.SecretID, s.Envelope)
			switch {
			case err != nil:
				done.Unreadable++
				v.cfg.Logger.Error("a secret cannot be decrypted and stays as it is", "secret", s.Name, "err", err)
				continue
			case next == nil:
				continue
			}
			s.Envelope = next
			switch err := secrets.Rewrap(ctx, s); protocol.CodeOf(err) {
			case "":
				done.Rewrapped++
			case protocol.CodeConflict, protocol.CodeNotFound:
				again = try < rewrapTries // somebody has written or deleted it
			default:
				return done, protocol.Errorf(protocol.CodeOf(err), op, "%q: %w", s.Name, err).WithHint("some are rotated; the same again does the rest")
			}
		}
	}
	return done, nil
}

// read gets all keys. A previous one that cannot be had is left out: what is under it is
// unreadable, and the rest is not.
func (v *Vault) read(ctx context.Context) (keys ring, err error) {
	if keys.current, err = v.cfg.Current.read(ctx, v.cfg.Getenv); err != nil {
		return ring{}, err
	}
	for _, s := range v.cfg.Previous {
		k, err := s.read(ctx, v.cfg.Getenv)
		if err != nil {
			v.cfg.Logger.Warn("a previous key of secrets cannot be had", "source", s.String(), "err", err)
			continue
		}
		keys.previous = append(keys.previous, k)
	}
	return keys, nil
}

// fail keeps why nothing can be encrypted, unless keys are in use.
func (v *Vault) fail(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.problem == nil {
		return err
	}
	if _, own := errors.AsType[*protocol.Error](err); !own {
		err = protocol.Errorf(protocol.CodeUnavailable, "use secrets", "%w", err)
	}
	v.problem = err
	return err
}
