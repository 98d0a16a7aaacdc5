package redfish

import (
	"encoding/json"
	"slices"
	"strings"

	"rackboot/protocol"
)

// The properties of ComputerSystem.Boot (DSP2046) that are read or written.
const (
	keyTarget   = "BootSourceOverrideTarget"
	keyEnabled  = "BootSourceOverrideEnabled"
	keyMode     = "BootSourceOverrideMode"
	keyHTTPURI  = "HttpBootUri"
	keyBootNext = "BootNext"
	allowable   = "@Redfish.AllowableValues"
)

// Words of the boot properties that are not in protocol.
const (
	modeUEFI       = "UEFI"
	modeLegacy     = "Legacy"
	wordUefiTarget = "UefiTarget"
	wordBootNext   = "UefiBootNext"
)

// bootObject is what one resource, the system or its settings, says about boot.
type bootObject struct {
	uri        string
	tag        string // ETag to write with; empty if none was given
	keys       map[string]json.RawMessage
	override   protocol.Override
	targets    []protocol.BootTarget
	enabled    []protocol.OverrideEnabled // allowed ones; empty if not stated
	httpURI    string
	bootNext   string
	uefiTarget string // device path of the target UefiTarget
	order      []string
	options    string // link to the BootOptions
	irmc       bool   // the Fujitsu OEM form
}

func decodeBoot(uri, tag string, raw json.RawMessage) bootObject {
	f := fields(raw)
	return bootObject{
		uri: uri, tag: tag, keys: f,
		override: protocol.Override{
			Target:  protocol.BootTarget(textOf(f[keyTarget])),
			Enabled: protocol.OverrideEnabled(textOf(f[keyEnabled])),
			Mode:    textOf(f[keyMode]),
		},
		targets:    textsOf[protocol.BootTarget](f[keyTarget+allowable]),
		enabled:    textsOf[protocol.OverrideEnabled](f[keyEnabled+allowable]),
		httpURI:    uriOf(f[keyHTTPURI]),
		bootNext:   textOf(f[keyBootNext]),
		uefiTarget: textOf(f["UefiTargetBootSourceOverride"]),
		order:      textsOf[string](f["BootOrder"]),
		options:    linkOf(f["BootOptions"]),
	}
}

// uriOf is the URI that a resource shows; sushy-tools writes None for none.
func uriOf(raw json.RawMessage) string {
	if uri := textOf(raw); uri != "None" {
		return uri
	}
	return ""
}

// decodeIRMC reads Fujitsu's BootConfig (fujitsu/terraform-provider-irmc-redfish,
// resource_boot_source_override.go), which stands for the standard properties.
func decodeIRMC(uri, tag string, f map[string]json.RawMessage) bootObject {
	b := bootObject{uri: uri, tag: tag, keys: f, irmc: true}
	b.targets = textsOf[protocol.BootTarget](f["BootDevice"+allowable])
	b.override = protocol.Override{Target: protocol.BootTarget(textOf(f["BootDevice"])), Enabled: protocol.OverrideDisabled}
	var once bool
	_ = json.Unmarshal(f["NextBootOnlyEnabled"], &once)
	switch {
	case b.override.Target == "" || strings.EqualFold(string(b.override.Target), "None"):
		b.override.Target = protocol.TargetNone
	case once:
		b.override.Enabled = protocol.OverrideOnce
	default:
		b.override.Enabled = protocol.OverrideContinuous
	}
	return b
}

// has reports whether the resource shows the property, if only as null.
func (b *bootObject) has(key string) bool { return b != nil && b.keys[key] != nil }

// disarmed reports whether the resource states that nothing is armed. One that
// states nothing (AMI shows null on the system) is not.
func (b *bootObject) disarmed() bool {
	return b.override.Target == protocol.TargetNone || b.override.Enabled == protocol.OverrideDisabled
}

// pick is the first of the names that the resource allows; the first of all
// where it does not state what it allows.
func (b *bootObject) pick(names []protocol.BootTarget) (protocol.BootTarget, bool) {
	if len(b.targets) == 0 {
		return names[0], true
	}
	for _, n := range names {
		i := slices.IndexFunc(b.targets, func(t protocol.BootTarget) bool {
			return t == n || b.irmc && strings.EqualFold(string(t), string(n))
		})
		if i >= 0 {
			return b.targets[i], true
		}
	}
	return "", false
}
