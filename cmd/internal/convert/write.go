package convert

import (
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxPart bounds one file of manifests in bytes: rackctl apply sends at most 1 MiB at once, as JSON.
const maxPart = 900 << 10

// Parts are the manifests as YAML documents, in files that rackctl apply takes one by one in this order.
// A Secret's data is in them.
func Parts(objs []resource.Object) ([][]byte, error) {
	var out [][]byte
	var part []byte
	for _, obj := range objs {
		raw, err := encode(obj)
		if err != nil {
			return nil, err
		}
		text, err := manifest.FromJSON(raw)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "convert", "%w", err)
		}
		if len(part) > 0 && len(part)+len(text) > maxPart {
			out, part = append(out, part), nil
		}
		if len(part) > 0 {
			part = append(part, "---\n"...)
		}
		part = append(part, text...)
	}
	if len(part) > 0 {
		out = append(out, part)
	}
	return out, nil
}
