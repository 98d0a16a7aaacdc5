package env

import (
	"context"
	"strings"
	"time"

	"rackboot/netboot/bootenv"
	"rackboot/protocol/resource"
)

// judgeTimeout bounds the trial of one environment for one server. The bounds of package
// bootenv are met long before.
const judgeTimeout = 5 * time.Second

// judgeEnv tries whether a bundle can be made into files, as the agent will (seed 004,
// Changing a BootEnv for a Machine), and leaves in it only the file or image that the
// server boots from. No error has a secret.
func (c *Room) judgeEnv(b resource.EnvBundle) (resource.EnvBundle, error) {
	e, err := bootenv.Merge(b)
	if err != nil {
		return b, err
	}
	root, err := e.Root()
	if err != nil {
		return b, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), judgeTimeout)
	defer cancel()
	tree, err := e.Render(ctx, bootenv.Sample())
	if err != nil {
		return b, err
	}
	if err := boots(ctx, e); err != nil {
		return b, err
	}
	if err := c.complete(e, root, tree); err != nil {
		return b, err
	}
	b.ISOs, b.Images = nil, nil
	switch root.Source {
	case resource.EnvFromISO:
		b.ISOs = []resource.EnvISO{root.ISO}
	case resource.EnvFromImage:
		b.Images = []resource.Image{root.Image}
	case resource.EnvFromProxy, resource.EnvFromNone:
	}
	return b, nil
}

// boots says why no kind of machine of the server's architecture boots an environment.
func boots(ctx context.Context, e *bootenv.Effective) (first error) {
	for _, key := range resource.LoaderKeys() {
		if !strings.HasPrefix(string(key), e.Arch+"-") {
			continue
		}
		_, err := e.Boot(ctx, key, bootenv.Sample())
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}
