package sim

import (
	"encoding/json"
	"net/http"
	"slices"

	"rackboot/protocol"
)

// bootPatch is a change of boot properties; nil is no change.
type bootPatch struct {
	target  *protocol.BootTarget
	enabled *protocol.OverrideEnabled
	mode    *string
}

func (p bootPatch) apply(o protocol.Override) protocol.Override {
	if p.target != nil {
		o.Target = *p.target
	}
	if p.enabled != nil {
		o.Enabled = *p.enabled
	}
	if p.mode != nil {
		o.Mode = *p.mode
	}
	return o
}

// parseBootPatch checks the body of a PATCH as strict BMCs do: an unknown
// property, another type or a value out of the list refuses the whole.
func parseBootPatch(body []byte, hasMode bool) (bootPatch, *refusal) {
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil || outer == nil {
		return bootPatch{}, &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"}
	}
	for name := range outer {
		if name != "Boot" {
			return bootPatch{}, propertyError("PropertyNotWritable", name)
		}
	}
	var boot map[string]json.RawMessage
	if json.Unmarshal(outer["Boot"], &boot) != nil || len(boot) == 0 {
		return bootPatch{}, propertyError("PropertyValueTypeError", "Boot")
	}
	var p bootPatch
	for name, raw := range boot {
		var value string
		if json.Unmarshal(raw, &value) != nil || string(raw) == "null" {
			return bootPatch{}, propertyError("PropertyValueTypeError", name)
		}
		var ok bool
		switch {
		case name == "BootSourceOverrideTarget":
			target := protocol.BootTarget(value)
			ok, p.target = slices.Contains(allowedTargets(), target), &target
		case name == "BootSourceOverrideEnabled":
			enabled := protocol.OverrideEnabled(value)
			ok = slices.Contains([]protocol.OverrideEnabled{
				protocol.OverrideDisabled, protocol.OverrideOnce, protocol.OverrideContinuous,
			}, enabled)
			p.enabled = &enabled
		case name == "BootSourceOverrideMode" && hasMode:
			ok, p.mode = slices.Contains([]string{modeUEFI, "Legacy"}, value), &value
		default:
			return bootPatch{}, propertyError("PropertyUnknown", name)
		}
		if !ok {
			return bootPatch{}, propertyError("PropertyValueNotInList", name)
		}
	}
	return p, nil
}

func propertyError(key, property string) *refusal {
	return &refusal{status: http.StatusBadRequest, id: "Base.1.13." + key, text: "property " + property}
}
