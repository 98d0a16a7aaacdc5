//go:build !linux

package terminal

import (
	"errors"
	"os"
)

func hide(*os.File) (show func(), err error) { return nil, errors.ErrUnsupported }
