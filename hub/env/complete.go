package env

import (
	"context"
	"strings"
	"time"

	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Files reads uploaded files.
type Files interface {
	// Lacks says what of the needs a content does not have; nil of one that is not there.
	Lacks(ctx context.Context, file, digest string, needs []bootenv.Need) (protocol.FieldErrors, error)
}

// completeTimeout bounds how long files in an uploaded file are read, once for each of them.
const completeTimeout = 2 * time.Minute

// complete says what a server's boot names that is not in the uploaded file which it comes
// from. Agents read it all the same, and with what lies over it; what is refused here is
// known before they fetch gigabytes.
func (c *Room) complete(e *bootenv.Effective, root bootenv.Root, sample bootenv.Tree) error {
	if c.cfg.Files == nil || root.Source != resource.EnvFromISO {
		return nil
	}
	var inside []bootenv.Need
	for _, n := range e.Needs(root, sample) {
		below, ok := strings.CutPrefix(n.Path, root.At+"/")
		if !ok || n.Part == bootenv.PartLink { // which may lead to a folder, or to a file of the agent's
			continue
		}
		n.Path = below
		inside = append(inside, n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeTimeout)
	defer cancel()
	wrong, err := c.cfg.Files.Lacks(ctx, root.ISO.File, root.ISO.Digest, inside)
	if err != nil || len(wrong) == 0 {
		return err
	}
	return protocol.Errorf(protocol.CodeNotFound, "compile boot environment", "%s", wrong).
		WithHint("correct the environment, or upload the file that has it: rackctl iso upload FILE")
}
