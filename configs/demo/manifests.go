package demo

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var manifests embed.FS

// Manifests returns the folder of the manifests. Some values in them are ${NAME}: they are
// known when the demo has chosen its ports.
func Manifests() fs.FS { return manifests }
