package mirror

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/protocol"
)

// shownNames is how many names an error has.
const shownNames = 3

// Check says whether files can be had now: that each is there at the other side, or is
// cached where that cannot be asked. It fetches none. Errors: invalid, denied, not_found
// (one is not there), unavailable (one cannot be asked for).
func (m *Mirror) Check(ctx context.Context, base string, names []string) error {
	const op = "check a mirror"
	s, u, err := m.site(op, base)
	if err != nil {
		return err
	}
	var missing []string
	var code protocol.Code
	var because error
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
		fi, err := m.stat(ctx, s, under(u, name), name)
		if err == nil && fi.IsDir() {
			err = protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", name, ErrFolder)
		}
		if err == nil {
			continue
		}
		missing = append(missing, name)
		if because == nil || protocol.CodeOf(err) == protocol.CodeNotFound && code != protocol.CodeNotFound {
			code, because = protocol.CodeOf(err), err
		}
	}
	if because == nil {
		return nil
	}
	return protocol.Errorf(code, op, "%s has not %s: %w", show(u), listed(missing), because).
		WithHint("%s", hintOr(because, "correct the names in the BootEnv, or the URL of the repository"))
}

// listed is some of the names.
func listed(names []string) string {
	if len(names) <= shownNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shownNames], ", "), len(names)-shownNames)
}

// hintOr is an error's hint, or another.
func hintOr(err error, other string) string {
	var e *protocol.Error
	if errors.As(err, &e) && protocol.HintOf(e) != "" {
		return protocol.HintOf(e)
	}
	return other
}
