package files

import (
	"context"
	"sync"
	"time"

	"rackboot/netboot/bootenv"
)

const (
	renderTimeout = 10 * time.Second
	// maxRenderings bounds what is kept of one server: a boot asks by one address family,
	// and by another address after its operating system's own DHCP.
	maxRenderings = 4
)

// rendering is what is rendered for one boot and one way to ask.
type rendering struct {
	tree bootenv.Tree
	line string // the kernel's
}

// renderings are the last ones of an environment. They are in memory only: they have the
// token, and whatever secret the templates have.
type renderings struct {
	mu   sync.Mutex
	made []made
}

type made struct {
	site bootenv.Site
	rendering
}

// rendered gives what is rendered for a boot. It was rendered once without a fault; a
// template that makes something of the address or the token can fail all the same.
func (env *Environment) rendered(site bootenv.Site) (rendering, error) {
	r := &env.renderings
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.made {
		if m.site == site {
			return m.rendering, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), renderTimeout)
	defer cancel()
	tree, err := env.recipe.Render(ctx, site)
	if err != nil {
		return rendering{}, err
	}
	boot, err := env.recipe.Boot(ctx, env.key, site)
	if err != nil {
		return rendering{}, err
	}
	m := made{site, rendering{tree, boot.CommandLine}}
	if len(r.made) == maxRenderings {
		r.made = r.made[1:]
	}
	r.made = append(r.made, m)
	return m.rendering, nil
}
