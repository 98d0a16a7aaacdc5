package netboot

import (
	"path"
	"strings"
)

// The content types that UEFI firmware tells files apart by (UEFI specification
// section 24.7.2). EDK2 compares them byte by byte, so that none has parameters.
const (
	TypeEFI   = "application/efi"         // an image that is started
	TypeISO   = "application/vnd.efi-iso" // becomes a virtual CD
	TypeImage = "application/vnd.efi-img" // becomes a virtual disk
	TypeOther = "application/octet-stream"
)

// ContentType is the type of a boot file by the extension of its name, in which
// case does not count; TypeOther for one that firmware does not know.
func ContentType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".efi":
		return TypeEFI
	case ".iso":
		return TypeISO
	case ".img":
		return TypeImage
	}
	return TypeOther
}
