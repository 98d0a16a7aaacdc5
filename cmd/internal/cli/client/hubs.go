package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/person"
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
	// Person is how Token, then an ID token, is renewed; nil for all others.
	Person *Person `yaml:"person,omitempty" json:"-"`
}

// Person is a person who has logged in with an OpenID provider.
type Person struct {
	Issuer   string    `yaml:"issuer"`
	ClientID string    `yaml:"clientID"`
	CA       string    `yaml:"ca,omitempty"`      // PEM, of the provider
	Refresh  string    `yaml:"refresh,omitempty"` // empty if the provider gave none
	Expires  time.Time `yaml:"expires"`           // of the ID token
}

// At is where the person logs in.
func (p Person) At() person.At {
	return person.At{Issuer: p.Issuer, ClientID: p.ClientID, CA: []byte(p.CA)}
}

// renewBefore is how long before its end an ID token is renewed.
const renewBefore = 30 * time.Second

// Client talks to the hub of the context.
func (c Hub) Client() (*api.Client, error) {
	return api.NewClient(api.Config{
		BaseURL: c.URL, CA: []byte(c.CA), Token: c.Token, Certificate: []byte(c.Certificate), Key: []byte(c.Key),
	})
}

// By says how the hub knows the caller.
func (c Hub) By() string {
	switch {
	case c.Person != nil:
		return "oidc"
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

// Known says whether there is a hub that is talked to: one was named or chosen.
func (h *Hubs) Known() (bool, error) {
	f, err := h.Load()
	return h.name != "" || f.Current != "", err
}

// Pick is the hub of a file that --context or config use-context chose.
func (h *Hubs) Pick(f File) (Hub, error) { return f.Pick(h.name) }

// Chosen is the hub that --context or config use-context chose. A person's ID token that ends is renewed and kept.
func (h *Hubs) Chosen() (Hub, error) {
	f, err := h.Load()
	if err != nil {
		return Hub{}, err
	}
	c, err := f.Pick(h.name)
	if err != nil || c.Person == nil || c.Person.Refresh == "" || time.Until(c.Person.Expires) > renewBefore {
		return c, err
	}
	got, err := c.Person.At().Renew(context.Background(), c.Person.Refresh)
	if err != nil {
		return Hub{}, err
	}
	at := f.Named(c.Name)
	at.Take(c.Person.At(), got)
	return *at, h.Save(f)
}

// Link is a way to one hub that is kept for long. It stays with the hub that was chosen first, and follows what
// becomes of its tokens: a person's are renewed, and what a login elsewhere has written is read. It is safe for
// concurrent use.
type Link struct {
	hubs Hubs

	mu     sync.Mutex
	at     Hub
	client *api.Client
}

// Link makes a way to the chosen hub.
func (h *Hubs) Link() (*Link, error) {
	at, err := h.Chosen()
	if err != nil {
		return nil, err
	}
	c, err := at.Client()
	if err != nil {
		return nil, err
	}
	return &Link{hubs: Hubs{Getenv: h.Getenv, name: at.Name}, at: at, client: c}, nil
}

// Host is the hub's address, without who calls it.
func (l *Link) Host() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimPrefix(strings.TrimPrefix(l.at.URL, "https://"), "http://")
}

// Client is a client of the hub with the tokens of now: the one before, unless they are others. Errors are those of
// [Hubs.Chosen].
func (l *Link) Client() (*api.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, err := l.hubs.Chosen()
	if err != nil {
		return nil, err
	}
	if at.URL == l.at.URL && at.CA == l.at.CA && at.Token == l.at.Token && at.Certificate == l.at.Certificate && at.Key == l.at.Key {
		return l.client, nil
	}
	c, err := at.Client()
	if err != nil {
		return nil, err
	}
	l.client.CloseIdle()
	l.at, l.client = at, c
	return c, nil
}

// Close closes connections that no call uses.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client.CloseIdle()
}

// Take has a context be that of a person with the tokens that a login gave.
func (c *Hub) Take(at person.At, got person.Tokens) {
	c.Token, c.Certificate, c.Key = got.ID, "", ""
	c.Person = &Person{Issuer: at.Issuer, ClientID: at.ClientID, CA: string(at.CA), Refresh: got.Refresh, Expires: got.Expires}
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
