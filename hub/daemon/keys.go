package daemon

import (
	"context"
	"fmt"
	"strings"

	"rackboot/hub/members"
	"rackboot/hub/pki"
	"rackboot/protocol"
)

// RotateSigning replaces the key that signs documents, and returns how many
// statements there are now. It locks the hub's folder: no hub may run on it, because
// a hub reads its keys when it starts. Agents learn of it by themselves.
func RotateSigning(ctx context.Context, c Config) (statements int, err error) {
	err = c.offline(ctx, func(keys *pki.PKI, _ route, _ []string) error {
		err := keys.RotateSigning()
		statements = len(keys.Keys().Statements)
		return err
	})
	return statements, err
}

// RotateCA makes the next authority, which the hub tells its agents of and which signs
// nothing yet. With finish it signs from now on. That is refused while an agent is not
// known to trust it, unless with force: such an agent cannot reach the hub any more and
// must join anew. No hub may run on the folder.
func RotateCA(ctx context.Context, c Config, finish, force bool) error {
	return c.offline(ctx, func(keys *pki.PKI, _ route, lagging []string) error {
		switch {
		case !finish:
			return keys.StageCA()
		case keys.Staged() && len(lagging) > 0 && !force:
			return protocol.Errorf(protocol.CodeConflict, "finish the change of the authority", "%d agents do not trust the next one yet: %s",
				len(lagging), strings.Join(lagging[:min(len(lagging), maxNamed)], ", ")).
				WithHint("start the hub and wait until they have asked; those that are gone for good: revoke them, or finish with --force, and join them anew")
		}
		return keys.FinishCA()
	})
}

// maxNamed bounds the agents that an error names.
const maxNamed = 20

// offline works on the keys of a hub that does not run. lagging are the agents that
// are not known to have what this hub tells agents to trust.
func (c Config) offline(ctx context.Context, do func(keys *pki.PKI, to route, lagging []string) error) error {
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return err
	}
	if err := c.fits(keys); err != nil {
		return err
	}
	st, err := c.openOffline(ctx, keys, nil, false) // refused while a hub runs
	if err != nil {
		return err
	}
	defer st.close()
	if l := st.Lost(); l != nil { // agents that are lost would be told nothing
		return l.Err("change the hub's keys")
	}
	to, err := c.route(keys, c.MQTT)
	if err != nil {
		return err
	}
	lagging, err := members.Lagging(st.Store, c.standing(keys, to).Digest())
	if err != nil {
		return fmt.Errorf("look what agents trust: %w", err)
	}
	return do(keys, to, lagging)
}
