package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// purpose names the key under which credentials are kept; see sealbox.Key.Derive.
const purpose = "rackboot agent credentials 1"

// Keeper has the agent's key. It is safe for concurrent use.
type Keeper struct {
	agent string
	key   *sealbox.Key
	aead  cipher.AEAD

	revealed revealed
}

// New makes the Keeper of an agent. The same key makes the same Keeper.
func New(agent string, key *sealbox.Key) (*Keeper, error) {
	raw, err := key.Derive(purpose)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make the keeper of secrets", "%w", err)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make the keeper of secrets", "%w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make the keeper of secrets", "%w", err)
	}
	return &Keeper{agent: agent, key: key, aead: aead}, nil
}

// Public is the key that the hub seals for.
func (k *Keeper) Public() []byte { return k.key.Public() }

func (k *Keeper) binding(bmc, secret, uid string, version uint64) sealbox.Binding {
	return sealbox.Binding{Agent: k.agent, BMC: bmc, Secret: secret, UID: uid, Version: version}
}

// Open opens what the hub sealed for a BMC; denied if it was not, invalid if what was
// sealed is no account.
func (k *Keeper) Open(bmc string, s *message.SealedCredentials) (message.BMCCredentials, error) {
	if s == nil {
		return message.BMCCredentials{}, protocol.Errorf(protocol.CodeInvalid, "open sealed credentials", "the hub sent none for BMC %.63q", bmc)
	}
	return k.key.Open(k.binding(bmc, s.Secret, s.UID, s.Version), s)
}

// Reseal opens what the hub sealed for a BMC and encrypts it as it is kept. The codes
// are those of Open, and internal.
func (k *Keeper) Reseal(bmc string, s *message.SealedCredentials) (*store.Credentials, error) {
	c, err := k.Open(bmc, s)
	if err != nil {
		return nil, err
	}
	plain, err := c.Encode()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "keep credentials", "those of BMC %.63q cannot be encoded", bmc)
	}
	defer clear(plain)
	name := string(k.binding(bmc, s.Secret, s.UID, s.Version).AAD())
	return &store.Credentials{BMC: bmc, Secret: s.Secret, UID: s.UID, Version: s.Version, Box: k.Lock(name, plain)}, nil
}

// Reveal opens what was kept; denied if it was kept with another key or for something
// else, or is damaged.
func (k *Keeper) Reveal(c store.Credentials) (message.BMCCredentials, error) {
	name := k.binding(c.BMC, c.Secret, c.UID, c.Version).AAD()
	return k.revealed.get(c, name, time.Now(), func() (message.BMCCredentials, error) {
		plain, err := k.Unlock(string(name), c.Box)
		if err != nil {
			return message.BMCCredentials{}, protocol.Errorf(protocol.CodeDenied, "read kept credentials", "those of BMC %.63q cannot be decrypted", c.BMC).
				WithHint("the identity folder is not the one that they were kept with; the hub sends them again when the agent is connected")
		}
		defer clear(plain)
		return message.DecodeBMCCredentials(plain)
	})
}

// OpenIgnition opens user data that the hub sealed for a server; denied if it was not.
func (k *Keeper) OpenIgnition(server, claim string, ref resource.IgnitionRef, sealed []byte) ([]byte, error) {
	return k.key.OpenIgnition(sealbox.IgnitionBinding{Agent: k.agent, Server: server, OwnerUID: claim, IgnitionRef: ref}, sealed)
}

// OpenEnv implements agent.Secrets.
func (k *Keeper) OpenEnv(server, claim, bundle string, sealed []byte) ([]byte, error) {
	return k.key.OpenEnv(sealbox.EnvBinding{Agent: k.agent, Server: server, OwnerUID: claim, Bundle: bundle}, sealed)
}

// Lock implements store.Box.
func (k *Keeper) Lock(name string, plain []byte) []byte {
	return k.aead.Seal(nil, nil, plain, []byte(name))
}

// Unlock implements store.Box; denied for what it has not locked under that name.
func (k *Keeper) Unlock(name string, locked []byte) ([]byte, error) {
	plain, err := k.aead.Open(nil, nil, locked, []byte(name))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeDenied, "decrypt what was kept", "it was kept with another key, for something else, or is damaged")
	}
	return plain, nil
}
