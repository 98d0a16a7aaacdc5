package daemon

import (
	"context"
	"fmt"

	"rackboot/hub/fence"
	"rackboot/hub/pki"
)

// RaiseEpoch makes the documents of a folder that was restored from a copy newer
// than those that agents have, and returns the new epoch. No hub may run on the
// folder meanwhile.
func RaiseEpoch(ctx context.Context, c Config) (uint64, error) {
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return 0, err
	}
	if err := c.fits(keys); err != nil {
		return 0, err
	}
	st, err := c.openOffline(ctx, keys, nil, true)
	if err != nil {
		return 0, err
	}
	defer st.close()
	up := st.up
	epoch, err := fence.RaiseEpoch(ctx, st.Store, up.was.Epoch)
	if err != nil {
		return 0, err
	}
	detail := fmt.Sprintf("the epoch is %d now", epoch)
	if up.gaveUp != nil {
		detail += "; given up: " + up.gaveUp.Error()
	}
	if err := recordRestored(ctx, c, keys, st.Store, up.was.Audit, up.logs, detail); err != nil {
		return 0, err
	}
	// From here on what is there is all that there is.
	up.heads.Serve(epoch, nil)
	return epoch, up.heads.Accept(ctx)
}
