package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"

	"rackboot/netboot/image"
	"rackboot/protocol"
)

// RegistryAccount is the account of a registry, or of a mirror.
type RegistryAccount struct {
	// Host is host or host:port, as it is asked.
	Host string `yaml:"host"`
	// File is the name of a file in CredentialsDir: username and password, or token.
	File string `yaml:"file"`
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
		if a.File == "" || filepath.Base(a.File) != a.File {
			return fmt.Errorf("images.accounts[%d].file: %q is not the name of a file in credentialsDir", i, a.File)
		}
		if slices.ContainsFunc(c.Accounts[:i], func(b RegistryAccount) bool { return b.Host == a.Host }) {
			return fmt.Errorf("images.accounts[%d].host: %s has an account already", i, a.Host)
		}
	}
	return nil
}

// accounts reads the file of a registry each time: a new password counts at once.
func (c Images) accounts(dir string) image.Accounts {
	return func(_ context.Context, host string) (image.Account, error) {
		i := slices.IndexFunc(c.Accounts, func(a RegistryAccount) bool { return a.Host == host })
		if i < 0 {
			return image.Account{}, nil
		}
		a, err := readRegistryAccount(filepath.Join(dir, c.Accounts[i].File))
		a.TokenHosts = c.Accounts[i].TokenHosts
		return a, err
	}
}

func readRegistryAccount(path string) (image.Account, error) {
	const op = "read registry account"
	raw, _, err := readPrivate(op, path)
	if err != nil {
		return image.Account{}, err
	}
	var v struct {
		Username string `yaml:"username"`
		Password string `yaml:"password"`
		Token    string `yaml:"token"`
	}
	// The parser's error is not passed on: it would quote the file.
	err = yaml.UnmarshalWithOptions(raw, &v, yaml.Strict())
	if byName := v.Username != "" && v.Password != ""; err != nil || byName == (v.Token != "") {
		return image.Account{}, protocol.Errorf(protocol.CodeUnavailable, op, "%s has neither the lines username: and password: nor the line token:", path).
			WithHint("write one of them, and nothing else")
	}
	return image.Account{Username: v.Username, Password: v.Password, Token: v.Token}, nil
}
