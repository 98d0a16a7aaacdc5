package boot

import (
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// lookupEnv says what a boot of an environment has under a clean name, for who has a token of it: a loader of the site,
// else what the environment has.
func (b *segment) lookupEnv(server string, e indexed, remote netip.Addr, token, name string) (served, bool) {
	c := e.attempt.Order.Chain
	if digest, ok := c.Digest(name); ok {
		return served{name: name, digest: digest}, true
	}
	seg, ok := b.room.index.Segment(e.segment)
	if !ok {
		return served{}, false
	}
	base, err := netboot.BaseURLFor(seg, remote)
	if err != nil {
		return served{}, false
	}
	env, ok := b.room.cfg.Files.Environment(server, c.View)
	if !ok {
		return served{}, false
	}
	defer env.Release()
	if key := b.room.cfg.Guarded; !decide.MayDiscard(key, env.Destructive() || name == protocol.FileDiscard, e.attempt) {
		b.room.cfg.Logger.Warn("what discards disks is not sent: no approval permits this boot", "server", server, "bootenv", env.Name(), "file", name)
		return served{}, false
	}
	f, ok, err := env.Find(bootenv.Site{Base: base, Token: token, Address: remote.Unmap(), NoUserData: !e.attempt.TellsUserData(token)}, name)
	switch {
	case err != nil: // it was made once without a fault
		b.room.cfg.Logger.Error("a boot environment cannot be rendered", "server", server, "err", err)
		return served{}, false
	case !ok:
		return served{}, false
	case !f.View:
		return served{name: f.Name, text: f.Text}, true
	}
	return served{name: f.Name, open: func(at time.Time) (*netboot.File, error) {
		return b.room.cfg.Files.OpenEnv(server, c.View, f.Name, at)
	}}, true
}
