package iso

import (
	"fmt"
	"io/fs"
)

// Dangling is the error of a path that goes through a link, to what is not there. It is an
// fs.ErrNotExist.
type Dangling struct{ Link, Target string }

// Error names the link.
func (d *Dangling) Error() string {
	return fmt.Sprintf("the link %q leads to %q, which is not there", d.Link, d.Target)
}

// Is says that it is one of fs.ErrNotExist.
func (d *Dangling) Is(target error) bool { return target == fs.ErrNotExist } //nolint:errorlint // that is what Is is for
