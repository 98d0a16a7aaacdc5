package daemon

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"rackboot/protocol"
)

// BecomeOwner makes this process that of the user whom the agent's folder belongs to, as
// the user of the agent's unit: what root writes there the agent could not read. It is for
// a command that ends soon; nothing is changed where the folder is not there yet, or is
// one's own. The code is denied for anybody else than root and that user.
func BecomeOwner(dataDir string) error {
	const op = "join"
	info, err := os.Stat(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeDenied, op, "%w", err).WithHint("run it as root: put sudo before the command")
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	self := os.Geteuid()
	switch {
	case !ok, int(owner.Uid) == self:
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

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}
