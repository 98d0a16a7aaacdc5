package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"rackboot/hub/webhooks"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Webhook is where the hub sends events, and which.
type Webhook struct {
	// Name is that of a resource. The place in the log of events is kept under it.
	Name string `yaml:"name"`
	// URL is https, or http on the hub's own host, or with PlainHTTP anywhere.
	URL       string `yaml:"url"`
	PlainHTTP bool   `yaml:"plainHTTP"`
	// SecretFile has up to 4 secrets (whsec_ and base64), one a line, each of which signs. It may be read by the
	// hub's user only (mode 0600), and is read when the hub starts.
	SecretFile string `yaml:"secretFile"`
	// CAFile is PEM of the CAs that the receiver's certificate may be of, in place of the host's.
	CAFile string `yaml:"caFile"`
	// Codes and Racks are which events; none is all.
	Codes []resource.EventCode `yaml:"codes"`
	Racks []string             `yaml:"racks"`
	// Timeout is how long an answer may take, up to 15 s. Default 10 s.
	Timeout time.Duration `yaml:"timeout"`
	// GiveUpAfter is how long an event is tried before it is a dead letter, a minute at least. Default 24 h.
	GiveUpAfter time.Duration `yaml:"giveUpAfter"`
}

func (w Webhook) hook() webhooks.Hook {
	return webhooks.Hook{Name: w.Name, URL: w.URL, Codes: w.Codes, Racks: w.Racks, Wait: w.Timeout, GiveUp: w.GiveUpAfter}
}

// Webhooks are all of a hub.
type Webhooks []Webhook

func (all Webhooks) check() error {
	if len(all) > webhooks.MaxHooks {
		return fmt.Errorf("webhooks: there are %d, more than %d", len(all), webhooks.MaxHooks)
	}
	names := map[string]bool{}
	for i, w := range all {
		at := fmt.Sprintf("webhooks[%d]", i)
		if err := w.hook().Check(); err != nil {
			return fmt.Errorf("%s.%w", at, err)
		}
		if err := webhooks.CheckURL(w.URL, w.PlainHTTP); err != nil {
			return fmt.Errorf("%s.url: %w", at, err)
		}
		switch {
		case names[w.Name]:
			return fmt.Errorf("%s.name: there is another webhook %q", at, w.Name)
		case w.SecretFile == "":
			return fmt.Errorf("%s.secretFile is needed: (umask 077; echo whsec_$(openssl rand -base64 32) >FILE) makes one", at)
		}
		names[w.Name] = true
	}
	return nil
}

// hooks reads what the files of webhooks have.
func (all Webhooks) hooks() (out []webhooks.Hook, err error) {
	for i, w := range all {
		hook := w.hook()
		if hook.Secrets, err = readSecrets(w.SecretFile); err == nil {
			hook.TLS, err = trusting(w.CAFile)
		}
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "webhooks[%d] %s: %w", i, w.Name, err)
		}
		out = append(out, hook)
	}
	return out, nil
}

// maxSecretFile bounds a file of signing secrets in bytes.
const maxSecretFile = 4096

// readSecrets reads a file of signing secrets. No error tells one.
func readSecrets(path string) ([]webhooks.Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("secretFile: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("secretFile: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("secretFile: %s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("secretFile: %s may be read by others (mode %04o); chmod 600, and if others had access, make a new secret", path, info.Mode().Perm())
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return nil, fmt.Errorf("secretFile: %w", err)
	}
	secrets, err := webhooks.ParseSecrets(string(raw))
	if err != nil {
		return nil, fmt.Errorf("secretFile: %s: %w", path, err)
	}
	return secrets, nil
}

// trusting is TLS with the CAs of a file; with none the host's.
func trusting(path string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if path == "" {
		return conf, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("caFile: %w", err)
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(raw) {
		return nil, errors.New("caFile: there is no certificate in " + path)
	}
	return conf, nil
}
