package demo

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml */*.yaml
var manifests embed.FS

// Manifests returns the folder of the manifests, with a folder for each scenario that has
// its own. Some values in them are ${NAME}: they are known when the demo has chosen its
// ports. A file with ${SERVER} stands for one of each server.
func Manifests() fs.FS { return manifests }
