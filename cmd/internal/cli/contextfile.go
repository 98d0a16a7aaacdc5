package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
)

// contextFile is rackctl's own file. It holds tokens, so it is readable by its
// owner only.
type contextFile struct {
	Current  string       `yaml:"current"`
	Contexts []hubContext `yaml:"contexts"`
}

// hubContext is one hub and who calls it.
type hubContext struct {
	Name  string `yaml:"name" json:"name"`
	URL   string `yaml:"url" json:"url"`
	CA    string `yaml:"ca,omitempty" json:"-"` // PEM
	Token string `yaml:"token,omitempty" json:"-"`
	// HubKey is the public key with which the hub signs: PEM, hex or base64.
	HubKey string `yaml:"hubKey,omitempty" json:"-"`
	// Certificate and Key are PEM of a client certificate, instead of Token.
	Certificate string `yaml:"certificate,omitempty" json:"-"`
	Key         string `yaml:"key,omitempty" json:"-"`
}

// by says how the hub knows the caller.
func (c hubContext) by() string {
	switch {
	case c.Certificate != "":
		return "certificate"
	case c.Token != "":
		return "token"
	}
	return ""
}

// named is the context of a name, which is added if it is new.
func (f *contextFile) named(name string) *hubContext {
	for i := range f.Contexts {
		if f.Contexts[i].Name == name {
			return &f.Contexts[i]
		}
	}
	f.Contexts = append(f.Contexts, hubContext{Name: name})
	return &f.Contexts[len(f.Contexts)-1]
}

func (f contextFile) pick(name string) (hubContext, error) {
	const op = "choose context"
	if name == "" {
		name = f.Current
	}
	if name == "" {
		return hubContext{}, protocol.Errorf(protocol.CodeInvalid, op, "no hub is known yet").
			WithHint("rackctl login https://hub.example:8443, or rackctl config set-context NAME")
	}
	for _, c := range f.Contexts {
		if c.Name == name {
			return c, nil
		}
	}
	return hubContext{}, protocol.Errorf(protocol.CodeNotFound, op, "context %q does not exist", name).
		WithHint("rackctl config get-contexts shows what there is")
}

// loadContexts reads the file; one that is missing is empty.
func (a *app) loadContexts() (contextFile, error) {
	const op = "read config"
	var f contextFile
	path, err := a.configPath()
	if err != nil {
		return f, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err == nil && info.Mode().Perm()&0o077 != 0:
		return f, protocol.Errorf(protocol.CodeDenied, op, "%s can be read by others, and it holds tokens", path).
			WithHint("chmod 600 %s", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return f, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the permissions of %s", path)
	}
	if err := manifest.Unmarshal(raw, &f); err != nil {
		// The parser's text quotes the file, which holds tokens.
		return contextFile{}, protocol.Errorf(protocol.CodeInvalid, op, "%s cannot be read", path).
			WithHint("correct it, or move it away and use rackctl config set-context")
	}
	return f, nil
}

// saveContexts replaces the file in one step.
func (a *app) saveContexts(f contextFile) (err error) {
	path, err := a.configPath()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = protocol.Errorf(protocol.CodeUnavailable, "write config", "%w", err).WithHint("check the folder of %s", path)
		}
	}()
	raw, err := manifest.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(raw); err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
