package fsview

import (
	"errors"
	"io/fs"

	"rackboot/netboot/iso"
	"rackboot/protocol"
)

// failure is a PathError of the fs contract with one of ours in it, so that both
// errors.Is(err, fs.ErrNotExist) and protocol.CodeOf(err) say what it is.
func failure(op, name string, err *protocol.Error) error {
	return &fs.PathError{Op: op, Path: shown(name), Err: err}
}

// missing is the error of a name that is nowhere.
func missing(op, name string) error {
	return failure(op, name, protocol.Errorf(protocol.CodeNotFound, "", "%w", fs.ErrNotExist))
}

// dangling is the error of a name that a symbolic link leads to, which leads nowhere.
func dangling(op, name, link, target string) error {
	return failure(op, name, protocol.Errorf(protocol.CodeNotFound, "", "%w", &iso.Dangling{Link: shown(link), Target: shown(target)}).
		WithHint("make it anew with what the link leads to, or name a file that is there"))
}

// isDangling says whether an error names a link that leads nowhere.
func isDangling(err error) bool {
	_, is := errors.AsType[*iso.Dangling](err)
	return is
}

// closed is the error of what was closed before.
func closed(op, name string) error {
	return failure(op, name, protocol.Errorf(protocol.CodeUnavailable, "", "%w", fs.ErrClosed))
}

// broken is the error of a source that is not what it should be.
func broken(op, what, hint string, args ...any) *protocol.Error {
	return protocol.Errorf(protocol.CodeInvalid, op, what, args...).WithHint("%s", hint)
}

// unread is the error of an archive that could not be read, if it is none of ours.
func unread(name string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "read "+name, "%w", err).WithHint("look at the disk that it is on")
}

// judged gives an error of a mount's own a code where it has none; reading failed then.
func judged(op, name, origin string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code != "" {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return err
		}
		return &fs.PathError{Op: op, Path: shown(name), Err: err}
	}
	code := protocol.CodeUnavailable
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = protocol.CodeNotFound
	case errors.Is(err, fs.ErrInvalid):
		code = protocol.CodeInvalid
	case errors.Is(err, fs.ErrPermission):
		code = protocol.CodeDenied
	}
	return failure(op, name, protocol.Errorf(code, "", "%s: %w", origin, err))
}
