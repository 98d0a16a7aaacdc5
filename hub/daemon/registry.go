package daemon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"rackboot/hub/access"
	"rackboot/hub/api/gate"
	"rackboot/hub/registry"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/state/clock"
)

// Registry says whether the hub has a registry of its own, and how much is kept there.
type Registry struct {
	// Listen is host:port of its HTTPS; empty is no registry.
	Listen string `yaml:"listen"`
	// Dir is its folder. Default registry in DataDir.
	Dir string `yaml:"dir"`
	// QuotaMiB bounds it, in MiB, by default 10240; MinFreeMiB is how much of the file
	// system it leaves alone, by default 1024.
	QuotaMiB   int64 `yaml:"quotaMiB"`
	MinFreeMiB int64 `yaml:"minFreeMiB"`
}

const (
	registryQuotaMiB   = 10 << 10
	registryMinFreeMiB = 1 << 10
)

func (c Registry) check() error {
	if c.Listen == "" {
		if c != (Registry{}) {
			return fmt.Errorf("registry.listen: give host:port, or take registry out for none")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("registry.listen: %q is not host:port", c.Listen)
	}
	if c.QuotaMiB < 0 || c.MinFreeMiB < 0 {
		return fmt.Errorf("registry: a size is not less than 0; leave it out for the default")
	}
	return nil
}

// quota is in bytes.
func (c Registry) quota() int64 {
	if c.QuotaMiB == 0 {
		return registryQuotaMiB << 20
	}
	return c.QuotaMiB << 20
}

// minFree is in bytes.
func (c Registry) minFree() int64 {
	if c.MinFreeMiB == 0 {
		return registryMinFreeMiB << 20
	}
	return c.MinFreeMiB << 20
}

// ownRegistry is the hub's registry, and how the hub itself reads it.
type ownRegistry struct {
	*registry.Registry
	hosts []string   // as references name it
	token string     // of the hub
	gate  *gate.Gate // who knows the callers; set before it serves
	// refused says that an agent was revoked.
	refused func(agent string) bool
}

// registryDir is the registry's folder.
func (c Config) registryDir() string {
	if c.Registry.Dir != "" {
		return c.Registry.Dir
	}
	return c.path("registry")
}

// hubItself is the name by which the hub reads its registry. No client has it: a name of a
// client has no space.
const hubItself = "the hub"

// openRegistry opens it; nil without one. On servers of the user's own the store has its book, for all hubs.
func (h *hub) openRegistry(c Config, shared bool) (*ownRegistry, error) {
	if c.Registry.Listen == "" {
		return nil, nil
	}
	_, port, err := net.SplitHostPort(c.Registry.Listen)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "open the registry", "%w", err)
	}
	o := &ownRegistry{token: rand.Text(), refused: func(agent string) bool { return h.control.Terms.Refused(agent) }}
	for _, name := range append(slices.Clone(c.Names), "localhost", "127.0.0.1") {
		o.hosts = append(o.hosts, net.JoinHostPort(name, port))
	}
	conf := registry.Config{
		Dir: c.registryDir(), Quota: c.Registry.quota(), MinFree: c.Registry.minFree(), Right: o.right, Audit: o, Clock: clock.Now, Logger: h.log, Registerer: h.reg,
	}
	if shared {
		conf.Shared = &registry.Shared{Book: h.store.Repositories, Contents: h.store.Contents}
		if h.upkeep.contents != nil {
			conf.Shared.Depot = h.upkeep.contents
		}
	} else {
		conf.Former = h.store.Repositories
	}
	o.Registry, err = registry.Open(conf)
	return o, err
}

// right says what the sender of a request may do: agents pull with their certificates, and
// clients of the API with their tokens, certificates and roles what those let them do to the
// hub as a whole.
func (o *ownRegistry) right(r *http.Request) (who registry.Caller, may registry.Right) {
	name, password, basic := r.BasicAuth()
	if basic {
		if name == hubItself && subtle.ConstantTimeCompare([]byte(password), []byte(o.token)) == 1 {
			return registry.Caller{Name: hubItself}, registry.Pull
		}
		// Tools of registries give tokens as passwords.
		asked := r.Clone(r.Context())
		asked.Header.Set("Authorization", "Bearer "+password)
		r = asked
	}
	c, known := o.gate.Caller(r)
	known = known && (!basic || c.Name == name)
	if known {
		who.Name = c.Name
		for _, role := range c.Roles {
			who.Roles = append(who.Roles, string(role))
		}
	}
	switch {
	case known && access.May(c, access.Apply, access.Target{}) == access.Allowed:
		// Each change is an entry of the audit log.
		if r.Method != http.MethodGet && r.Method != http.MethodHead && o.gate.Throttled(r, c.Name) {
			return who, registry.Throttled
		}
		return who, registry.Push
	case known && access.May(c, access.Read, access.Target{}) == access.Allowed:
		return who, registry.Pull
	case known:
		return who, registry.Known
	case r.Header.Get("Authorization") != "": // a guess
		if o.gate.Throttled(r, "") {
			return who, registry.Throttled
		}
		return who, registry.None
	}
	if agent := o.gate.Agent(r); agent != "" && !o.refused(agent) {
		return registry.Caller{Name: agent}, registry.Pull
	}
	return who, registry.None
}

// Recorded implements registry.Audit.
func (o *ownRegistry) Recorded(ctx context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error {
	return o.gate.Recorded(ctx, e, do)
}

// Denied implements registry.Audit.
func (o *ownRegistry) Denied(r *http.Request, e protocol.AuditEntry, err error) {
	o.gate.Denied(r, e, err)
}

// known adds to options how the hub reads its own registry; ca is its authority.
func (o *ownRegistry) known(options image.Options, ca []byte) image.Options {
	if o == nil {
		return options
	}
	others := options.Accounts
	options.CA = slices.Concat(options.CA, []byte("\n"), ca)
	options.Accounts = func(ctx context.Context, host string) (image.Account, error) {
		if slices.Contains(o.hosts, host) {
			return image.Account{Username: hubItself, Password: o.token}, nil
		}
		return others(ctx, host)
	}
	return options
}

// serveRegistry serves it in the group; nothing without one.
func (h *hub) serveRegistry(ctx context.Context, group *errgroup.Group, c Config, g *gate.Gate) error {
	if h.registry == nil {
		return nil
	}
	h.registry.gate = g
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Registry.Listen)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open the registry", "%w", err).WithHint("change registry.listen in the hub's file, or stop what uses the address")
	}
	group.Go(func() error { return h.registry.Serve(ctx, ln, h.keys.FollowingTLS(g.Authorities)) })
	if h.store.Lost() == nil { // else what no image names may be named by what was lost
		group.Go(func() error { return h.registry.Run(ctx) })
	}
	h.log.Info("serving the registry", "address", ln.Addr())
	return nil
}
