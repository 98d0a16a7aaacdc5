package schemas

import (
	"embed"
	"strings"

	"rackboot/protocol/resource"
)

//go:embed *.json
var files embed.FS

// Manifest is the name of the schema of a file with resources of any kinds.
const Manifest = "manifest"

// Of is the schema of a kind; false for a kind that nobody writes.
func Of(kind resource.Kind) ([]byte, bool) {
	if !kind.Appliable() {
		return nil, false
	}
	return read(strings.ToLower(string(kind)))
}

// Any is the schema of a file with resources of any kinds.
func Any() []byte {
	raw, _ := read(Manifest)
	return raw
}

func read(name string) ([]byte, bool) {
	raw, err := files.ReadFile(name + ".json")
	return raw, err == nil
}
