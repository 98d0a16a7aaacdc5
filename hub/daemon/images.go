package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"rackboot/hub/sealing"
	"rackboot/hub/store"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Images says how the hub reaches registries.
type Images struct {
	// Mirrors maps a registry host to the host that is asked instead.
	Mirrors map[string]string `yaml:"mirrors"`
	// PlainHTTP are the registry hosts that may be asked without TLS.
	PlainHTTP []string `yaml:"plainHTTP"`
	// CAFile is PEM of more CAs for registries.
	CAFile string `yaml:"caFile"`
	// Allow are the registries whose images may be used: hosts, or hosts with the beginning
	// of a path. Empty is all.
	Allow []string `yaml:"allow"`
	// Accounts are for registries that want a login.
	Accounts []RegistryAccount `yaml:"accounts"`
	// SigningKeys are the public keys that signatures of OCI images may be of, where an
	// entry of the catalogue wants one.
	SigningKeys []SigningKey `yaml:"signingKeys"`
}

// SigningKey is a public key of who signs images.
type SigningKey struct {
	// Name is what entries and revisions call it.
	Name string `yaml:"name"`
	// File is PEM of the key, such as cosign.pub.
	File string `yaml:"file"`
}

// maxSigningKeys bounds the keys: a signature is tried with each.
const maxSigningKeys = 64

// RegistryAccount is the account of a registry, or of a mirror.
type RegistryAccount struct {
	// Host is host or host:port, as it is asked.
	Host string `yaml:"host"`
	// Secret is the name of a Secret of type registry.
	Secret string `yaml:"secret"`
	// TokenHosts are other hosts that may be given name and password for a token.
	TokenHosts []string `yaml:"tokenHosts"`
}

func (c Images) check() error {
	for i, entry := range c.Allow {
		if err := image.CheckAllow(entry); err != nil {
			return fmt.Errorf("images.allow[%d]: %w", i, err)
		}
	}
	for i, a := range c.Accounts {
		for _, host := range append([]string{a.Host}, a.TokenHosts...) {
			if err := image.CheckHost(host); err != nil {
				return fmt.Errorf("images.accounts[%d]: %w", i, err)
			}
		}
		if a.Secret == "" {
			return fmt.Errorf("images.accounts[%d].secret: name a Secret of type %s", i, resource.SecretRegistry)
		}
		if slices.ContainsFunc(c.Accounts[:i], func(b RegistryAccount) bool { return b.Host == a.Host }) {
			return fmt.Errorf("images.accounts[%d].host: %s has an account already", i, a.Host)
		}
	}
	return c.checkSigningKeys()
}

func (c Images) checkSigningKeys() error {
	if len(c.SigningKeys) > maxSigningKeys {
		return fmt.Errorf("images.signingKeys: there are %d, more than %d", len(c.SigningKeys), maxSigningKeys)
	}
	for i, k := range c.SigningKeys {
		switch {
		case !protocol.ValidName(k.Name):
			return fmt.Errorf("images.signingKeys[%d].name: %q is not a name: use 1 to 63 of a-z, 0-9 and -", i, k.Name)
		case k.File == "":
			return fmt.Errorf("images.signingKeys[%d].file: name the file with the public key", i)
		case slices.ContainsFunc(c.SigningKeys[:i], func(b SigningKey) bool { return b.Name == k.Name }):
			return fmt.Errorf("images.signingKeys[%d].name: there are two keys %s", i, k.Name)
		}
	}
	return nil
}

// readSigningKeys reads the files of the keys.
func (c Images) readSigningKeys() (out image.SigningKeys, err error) {
	for i, k := range c.SigningKeys {
		op := fmt.Sprintf("read images.signingKeys[%d]", i)
		f, err := os.Open(k.File)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
		}
		raw, err := io.ReadAll(io.LimitReader(f, image.MaxSigningKey+1))
		_ = f.Close() // it was read
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
		}
		key, err := image.ParseSigningKey(k.Name, raw)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", k.File, err).WithHint("%s", protocol.HintOf(err))
		}
		out = append(out, key)
	}
	return out, nil
}

// images asks registries for the control.
type images struct {
	options image.Options
	keys    image.SigningKeys
}

// secrets are where the accounts of registries lie.
type secrets struct {
	objects *store.Objects
	secrets *store.Secrets
	vault   sealing.Vault
}

// own is the hub's own registry, or nil, and ca PEM of its authority.
func newImages(c Images, from secrets, own *ownRegistry, ca []byte) (images, error) {
	keys, err := c.readSigningKeys()
	if err != nil {
		return images{}, err
	}
	o := image.Options{Mirrors: c.Mirrors, PlainHTTP: c.PlainHTTP, Allow: c.Allow, Accounts: from.accounts(c.Accounts)}
	if c.CAFile != "" {
		if o.CA, err = os.ReadFile(c.CAFile); err != nil {
			return images{}, protocol.Errorf(protocol.CodeInvalid, "read images.caFile", "%w", err)
		}
	}
	return images{own.known(o, ca), keys}, nil
}

// accounts reads the Secret of a registry each time: a new password counts at once.
func (s secrets) accounts(list []RegistryAccount) image.Accounts {
	return func(_ context.Context, host string) (image.Account, error) {
		i := slices.IndexFunc(list, func(a RegistryAccount) bool { return a.Host == host })
		if i < 0 {
			return image.Account{}, nil
		}
		data, err := s.read(list[i].Secret)
		if err != nil {
			return image.Account{}, err
		}
		return image.Account{
			Username: string(data[resource.SecretUsername]), Password: string(data[resource.SecretPassword]),
			Token: string(data[resource.SecretToken]), TokenHosts: list[i].TokenHosts,
		}, nil
	}
}

// read gives what is in the Secret of a registry. That it lacks is no fault of the image,
// so that the code is unavailable.
func (s secrets) read(name string) (resource.SecretData, error) {
	const op = "read registry account"
	secret, err := store.Peek[*resource.Secret](s.objects, name)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "Secret %q, which images.accounts names, does not exist", name).
			WithHint("rackctl secret set %s --type %s --from-file username=FILE --from-file password=FILE", name, resource.SecretRegistry)
	}
	if err != nil {
		return nil, err
	}
	if secret.Spec.Type != resource.SecretRegistry {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "Secret %q is of type %s, not %s", name, secret.Spec.Type, resource.SecretRegistry).
			WithHint("name another under images.accounts of the hub's file")
	}
	stored, err := s.secrets.Get(name)
	if err != nil {
		return nil, err
	}
	data, err := s.vault.Open(stored)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "Secret %q: %w", name, err).WithHint("%s", protocol.HintOf(err))
	}
	return data, nil
}

// Resolve implements images.Registry: also what the artefacts begin with is looked at.
func (i images) Resolve(ctx context.Context, ref, architecture string) (resource.Image, error) {
	img, err := image.Resolve(ctx, ref, architecture, i.options)
	if err != nil {
		return img, err
	}
	if img.Architecture == "" {
		return image.Only(ctx, img, i.options)
	}
	return img, image.Inspect(ctx, img, i.options)
}

// Verify implements images.Verifier.
func (i images) Verify(ctx context.Context, ref, key string) (*resource.ISOSignature, error) {
	return image.VerifySignature(ctx, ref, key, i.keys, i.options)
}

// Trusts implements images.Verifier.
func (i images) Trusts(proof resource.ISOSignature, key string) bool {
	return i.keys.Trusts(proof, key)
}

// Require implements images.Registry.
func (i images) Require(img resource.Image, method protocol.BootTarget) error {
	return image.Require(img, method)
}
