package ignition

import (
	"regexp"

	"github.com/coreos/butane/config/common"
	fcos1_0 "github.com/coreos/butane/config/fcos/v1_0"
	fcos1_1 "github.com/coreos/butane/config/fcos/v1_1"
	fcos1_2 "github.com/coreos/butane/config/fcos/v1_2"
	fcos1_3 "github.com/coreos/butane/config/fcos/v1_3"
	fcos1_4 "github.com/coreos/butane/config/fcos/v1_4"
	fcos1_5 "github.com/coreos/butane/config/fcos/v1_5"
	fcos1_6 "github.com/coreos/butane/config/fcos/v1_6"
	fcos1_7 "github.com/coreos/butane/config/fcos/v1_7"
	flatcar1_0 "github.com/coreos/butane/config/flatcar/v1_0"
	flatcar1_1 "github.com/coreos/butane/config/flatcar/v1_1"
	"github.com/coreos/vcontext/report"

	"rackboot/protocol"
)

type translator = func([]byte, common.TranslateBytesOptions) ([]byte, report.Report, error)

// translators are of the variants and versions that are rendered. Butane's own table has
// OpenShift's too, each release with packages of its own, whose results are no Ignition.
var translators = map[string]translator{
	"fcos 1.0.0": fcos1_0.ToIgn3_0Bytes, "fcos 1.1.0": fcos1_1.ToIgn3_1Bytes, "fcos 1.2.0": fcos1_2.ToIgn3_2Bytes, "fcos 1.3.0": fcos1_3.ToIgn3_2Bytes,
	"fcos 1.4.0": fcos1_4.ToIgn3_3Bytes, "fcos 1.5.0": fcos1_5.ToIgn3_4Bytes, "fcos 1.6.0": fcos1_6.ToIgn3_5Bytes, "fcos 1.7.0": fcos1_7.ToIgn3_6Bytes,
	"flatcar 1.0.0": flatcar1_0.ToIgn3_3Bytes, "flatcar 1.1.0": flatcar1_1.ToIgn3_4Bytes,
}

// headLine is what follows the name in the two lines that say what a Butane config is. They are
// plain scalars at the left margin in every config that people write; Butane reads them again.
const headLine = `[ \t]*:[ \t]+["']?([A-Za-z0-9.-]{1,32})["']?[ \t]*(?:#.*)?\r?$`

var (
	variantLine = regexp.MustCompile(`(?m)^variant` + headLine)
	versionLine = regexp.MustCompile(`(?m)^version` + headLine)
)

// render makes Ignition of Butane.
func render(raw []byte) (Config, protocol.FieldErrors) {
	variant, version := variantLine.FindSubmatch(raw), versionLine.FindSubmatch(raw)
	switch {
	case variant == nil:
		return Config{}, wrong("$.variant", "is missing: this is neither Ignition, which is a JSON object, nor Butane")
	case version == nil:
		return Config{}, wrong("$.version", "is missing")
	}
	translate, ok := translators[string(variant[1])+" "+string(version[1])]
	if !ok {
		return Config{}, wrong("$.version", "is not one of a known variant: fcos 1.0.0 to 1.7.0, flatcar 1.0.0 and 1.1.0")
	}
	// Without a folder for files, those of the hub's host cannot be embedded.
	out, r, err := translate(raw, common.TranslateBytesOptions{Raw: true})
	if err != nil || r.IsFatal() {
		return Config{}, problems(r)
	}
	if len(out) > maxBytes {
		return Config{}, wrong("$", tooLong)
	}
	return checkJSON(out)
}
