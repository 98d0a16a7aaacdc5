package serve

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"rackboot/protocol"
)

// BecomeOwner makes this process that of the user whom a daemon's folder belongs to, as the
// user of its unit: what root writes there the daemon could not read. It is for a command that
// ends soon, which op names; nothing is changed where the folder is not there yet, or is one's
// own. The code is denied for anybody else than root and that user.
func BecomeOwner(op, dataDir string) error {
	owner, self, err := ownerOf(op, dataDir)
	switch {
	case err != nil:
		return err
	case owner == nil, int(owner.Uid) == self:
		return nil
	case self != 0:
		return protocol.Errorf(protocol.CodeDenied, op, "%s belongs to %s, not to you", dataDir, userName(owner.Uid)).
			WithHint("put sudo before the command: as root it becomes that user by itself")
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(int(owner.Gid)), syscall.Setuid(int(owner.Uid))); err != nil {
		return protocol.Errorf(protocol.CodeDenied, op, "become %s, whose %s is: %w", userName(owner.Uid), dataDir, err)
	}
	return nil
}

// CheckOwner refuses a daemon in the folder of another user, denied: it would leave files that
// the daemon of that user cannot open. unit is the one of systemd. A daemon becomes nobody by
// itself, since it would lose the capabilities that the unit gives it.
func CheckOwner(unit, dataDir string) error {
	const op = "run"
	owner, self, err := ownerOf(op, dataDir)
	if err != nil || owner == nil || int(owner.Uid) == self {
		return err
	}
	return protocol.Errorf(protocol.CodeDenied, op, "dataDir %s belongs to %s, and this is %s, whose files there that user could not open", dataDir, userName(owner.Uid), userName(uint32(self))).
		WithHint("start the unit (systemctl start %s), or run it as that user; to run another one, name a dataDir of your own in a file of your own (--config)", unit)
}

// ownerOf is the owner of a folder, nil if it is not there; self is one's own number.
func ownerOf(op, dataDir string) (owner *syscall.Stat_t, self int, err error) {
	self = os.Geteuid()
	info, err := os.Stat(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, self, nil
	}
	if err != nil {
		return nil, self, protocol.Errorf(protocol.CodeDenied, op, "%w", err).WithHint("run it as root: put sudo before the command")
	}
	owner, _ = info.Sys().(*syscall.Stat_t)
	return owner, self, nil
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}
