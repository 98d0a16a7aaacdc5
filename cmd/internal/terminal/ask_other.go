//go:build !linux

package terminal

import (
	"errors"
	"os"
)

func hide(*os.File) (show func(), err error) { return nil, errors.ErrUnsupported }

// isTerminal says what is known of a character device: that nobody types at /dev/null.
func isTerminal(f *os.File) bool { return f.Name() != os.DevNull }
