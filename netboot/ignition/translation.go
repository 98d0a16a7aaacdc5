package ignition

import "bytes"

const opTranslate = "translate ignition"

// translation is one run; included configurations are runs of their own.
type translation struct {
	max         string
	authorities []string   // sources that replace the authorities; none leaves them
	left        *allowance // shared with included ones
	depth       int        // of inclusion
	onlyThere   bool       // authorities are only replaced where there are some
}

// maxIncluded bounds how deep configurations include each other by data: URLs.
const maxIncluded = 4

// allowance is how many bytes a stub may still have in data: URLs that are looked into,
// unpacked. A stub of a few KiB could be made to unpack to many GiB.
type allowance int

// stubTree reads a stub as JSON; rendered says that it was Butane.
func stubTree(raw []byte) (t *tree, config []byte, rendered bool, r *Refusal) {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(raw) > maxBytes:
		return nil, nil, false, refuse(Invalid, "$", tooLong)
	case len(trimmed) == 0:
		return nil, nil, false, refuse(NotIgnition, "$", "is empty")
	case bytes.HasPrefix(trimmed, []byte("#cloud-config")):
		return nil, nil, false, refuse(CloudConfig, "$", "is for cloud-init; give Ignition")
	case bytes.HasPrefix(trimmed, []byte("#!")):
		return nil, nil, false, refuse(Script, "$", "is a script for cloud-init; give Ignition")
	}
	if t, r = parseTree(raw); r == nil {
		return t, raw, false, nil
	}
	if trimmed[0] == '{' || trimmed[0] == '[' || variantLine.Find(raw) == nil {
		return nil, nil, false, r
	}
	c, errs := render(raw)
	if len(errs) > 0 {
		return nil, nil, false, refuse(Invalid, errs[0].Path, errs[0].Message)
	}
	t, r = parseTree(c.JSON)
	return t, c.JSON, true, r
}
