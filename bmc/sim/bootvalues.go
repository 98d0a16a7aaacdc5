package sim

import (
	"maps"
	"slices"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// bootValues is a Boot object by property: strings, nil for null, and a list of
// strings for BootOrder. What is not there was not written.
type bootValues map[string]any

func (v bootValues) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// override is the values as an override.
func (v bootValues) override() protocol.Override {
	return protocol.Override{
		Target:  protocol.BootTarget(v.text(tree.BootTarget)),
		Enabled: protocol.OverrideEnabled(v.text(tree.BootEnabled)),
		Mode:    v.text(tree.BootMode),
	}
}

// with is the values after a change.
func (v bootValues) with(change bootValues) bootValues {
	all := make(bootValues, len(v)+len(change))
	maps.Copy(all, v)
	maps.Copy(all, change)
	return all
}

// disarmed is the values after the override was used up.
func (v bootValues) disarmed() bootValues {
	return v.with(bootValues{tree.BootTarget: string(protocol.TargetNone), tree.BootEnabled: string(protocol.OverrideDisabled)})
}

// parseBoot checks a Boot object of a PATCH as strict BMCs do: a property that
// is not writable there, another type or a value out of the list refuses the
// whole. Without targets every target is taken.
func parseBoot(v any, writable, targets []string) (bootValues, *refusal) {
	boot, ok := v.(tree.Object)
	if !ok || len(boot) == 0 {
		return nil, propertyError("PropertyValueTypeError", "Boot")
	}
	change := bootValues{}
	for name, value := range boot {
		if !slices.Contains(writable, name) {
			return nil, propertyError("PropertyUnknown", name)
		}
		switch name {
		case tree.BootOrder:
			order, ok := value.([]any)
			if !ok || len(tree.TextsAt(boot, name)) != len(order) {
				return nil, propertyError("PropertyValueTypeError", name)
			}
		case tree.BootURI, tree.BootUEFI, tree.BootNext:
			if _, ok := value.(string); !ok && value != nil {
				return nil, propertyError("PropertyValueTypeError", name)
			}
		default:
			s, ok := value.(string)
			if !ok {
				return nil, propertyError("PropertyValueTypeError", name)
			}
			if !listed(name, s, targets) {
				return nil, propertyError("PropertyValueNotInList", name)
			}
		}
		change[name] = value
	}
	return change, nil
}

func listed(name, value string, targets []string) bool {
	switch name {
	case tree.BootTarget:
		return len(targets) == 0 || slices.Contains(targets, value)
	case tree.BootEnabled:
		return slices.Contains([]string{"Disabled", "Once", "Continuous"}, value)
	case tree.BootMode:
		return value == tree.ModeUEFI || value == tree.ModeLegacy
	default:
		return false
	}
}

func propertyError(key, property string) *refusal {
	return &refusal{status: 400, id: "Base.1.13." + key, text: "property " + property}
}
