package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state/file"
)

// File is rackctl's own file. It holds tokens, so it is readable by its
// owner only.
type File struct {
	Current  string `yaml:"current"`
	Contexts []Hub  `yaml:"contexts"`
}

// Hub is one hub and who calls it.
type Hub struct {
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

// Client talks to the hub of the context.
func (c Hub) Client() (*api.Client, error) {
	return api.NewClient(api.Config{
		BaseURL: c.URL, CA: []byte(c.CA), Token: c.Token, Certificate: []byte(c.Certificate), Key: []byte(c.Key),
	})
}

// By says how the hub knows the caller.
func (c Hub) By() string {
	switch {
	case c.Certificate != "":
		return "certificate"
	case c.Token != "":
		return "token"
	}
	return ""
}

// Named is the context of a name, which is added if it is new.
func (f *File) Named(name string) *Hub {
	for i := range f.Contexts {
		if f.Contexts[i].Name == name {
			return &f.Contexts[i]
		}
	}
	f.Contexts = append(f.Contexts, Hub{Name: name})
	return &f.Contexts[len(f.Contexts)-1]
}

// Pick is the context of a name, or the chosen one where none is given.
func (f File) Pick(name string) (Hub, error) {
	const op = "choose context"
	if name == "" {
		name = f.Current
	}
	if name == "" {
		return Hub{}, protocol.Errorf(protocol.CodeInvalid, op, "no hub is known yet").
			WithHint("rackctl login https://hub.example:8443, or rackctl config set-context NAME")
	}
	for _, c := range f.Contexts {
		if c.Name == name {
			return c, nil
		}
	}
	return Hub{}, protocol.Errorf(protocol.CodeNotFound, op, "context %q does not exist", name).
		WithHint("rackctl config get-contexts shows what there is")
}

// Hubs are those that rackctl knows, of which it talks to one.
type Hubs struct {
	Getenv func(string) string
	name   string // --context
}

// Flags adds --context, which all commands have.
func (h *Hubs) Flags(root *cobra.Command) {
	root.PersistentFlags().StringVar(&h.name, "context", "", "the hub to talk to (default: the one that config use-context chose)")
}

// Connect talks to the chosen hub.
func (h *Hubs) Connect() (*api.Client, error) {
	c, err := h.Chosen()
	if err != nil {
		return nil, err
	}
	return c.Client()
}

// Chosen is the hub that --context or config use-context chose.
func (h *Hubs) Chosen() (Hub, error) {
	f, err := h.Load()
	if err != nil {
		return Hub{}, err
	}
	return f.Pick(h.name)
}

func (h *Hubs) path() (string, error) {
	if p := h.Getenv("RACKCTL_CONFIG"); p != "" {
		return p, nil
	}
	if d := h.Getenv("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "rackctl", "config.yaml"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, "find config", "%w", err).WithHint("set RACKCTL_CONFIG")
	}
	return filepath.Join(home, ".config", "rackctl", "config.yaml"), nil
}

// Load reads the file; one that is missing is empty.
func (h *Hubs) Load() (File, error) {
	const op = "read config"
	var f File
	path, err := h.path()
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
		return File{}, protocol.Errorf(protocol.CodeInvalid, op, "%s cannot be read", path).
			WithHint("correct it, or move it away and use rackctl config set-context")
	}
	return f, nil
}

// Save replaces the file in one step.
func (h *Hubs) Save(f File) (err error) {
	path, err := h.path()
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
	return file.Replace(path, raw, 0o600)
}
