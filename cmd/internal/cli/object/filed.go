package object

import (
	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
)

// filed are the resources of files as KIND/NAME, or what was named without files.
func filed(args, paths []string, src *files.Input) ([]string, error) {
	if len(paths) == 0 {
		return args, nil
	}
	if len(args) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "a file and a name were given").WithHint("give either")
	}
	index, err := manifest.NewIndex(paths, src.Stdin)
	if err != nil {
		return nil, err
	}
	defer index.Close()
	var out []string
	for i := range index.Len() {
		out = append(out, choice.Named(index.Kind(i), index.Name(i)))
	}
	return out, nil
}
