//go:build !linux

package file

import "errors"

// Exchange is not known to this package on other systems than Linux.
func Exchange(string, string) error { return errors.ErrUnsupported }
