//go:build !linux

package depot

import "os"

// forget does nothing: this system has no such advice that the standard library knows.
func forget(*os.File) {}
