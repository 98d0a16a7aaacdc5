package ignition

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_6"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxBytes bounds what is read. Butane may grow when it is rendered.
const maxBytes = resource.MaxIgnition

// Check reads user data. What is wrong with it has paths below $, and no value.
func Check(raw []byte) (Config, protocol.FieldErrors) {
	switch trimmed := bytes.TrimSpace(raw); {
	case len(raw) > maxBytes:
		return Config{}, wrong("$", tooLong)
	case len(trimmed) == 0:
		return Config{}, wrong("$", "is empty")
	case bytes.HasPrefix(trimmed, []byte("#cloud-config")), bytes.HasPrefix(trimmed, []byte("#!")):
		return Config{}, wrong("$", "is for cloud-init; give Ignition or Butane")
	case trimmed[0] == '{':
		return checkJSON(raw)
	default:
		return render(raw)
	}
}

func checkJSON(raw []byte) (Config, protocol.FieldErrors) {
	var head struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
		Version1 json.RawMessage `json:"ignitionVersion"`
	}
	if errs := decode(raw, &head); errs != nil {
		return Config{}, errs
	}
	out := Config{Version: head.Ignition.Version, JSON: raw}
	switch {
	case out.Version == "" && head.Version1 != nil:
		return check1(raw)
	case out.Version == "":
		return Config{}, wrong("$.ignition.version", "is missing")
	case slices.Contains(versions2, out.Version):
		if errs := check2(raw); len(errs) > 0 {
			return Config{}, errs
		}
		return out, nil
	case !slices.Contains(versions3, out.Version):
		return Config{}, wrong("$.ignition.version", "is not one of "+strings.Join(slices.Concat(versions2, versions3), ", "))
	}
	if _, r, err := v3_6.ParseCompatibleVersion(raw); err != nil || r.IsFatal() {
		return Config{}, problems(r)
	}
	return out, nil
}

// check1 checks specification 1, which old images read, and groups' stubs are written in.
func check1(raw []byte) (Config, protocol.FieldErrors) {
	t, r := parseTree(raw)
	if r == nil {
		if _, r = headOf(t); r == nil {
			_, r = read1(t)
		}
	}
	if r != nil {
		return Config{}, wrong(r.Path, r.Message)
	}
	return Config{Version: "1", JSON: raw}, nil
}
