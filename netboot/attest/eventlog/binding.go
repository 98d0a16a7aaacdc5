package eventlog

import (
	"bytes"
)

// Binding says how much of an event's data its digest covers.
type Binding string

// Bindings.
const (
	// Whole: the digest is that of the data, which is as true as the digest.
	Whole Binding = "whole"
	// Part: the digest is that of a part of the data, or of the name that the data says in
	// another alphabet; the rest is a claim.
	Part Binding = "part"
	// Unbound: the digest is of something that the log does not have, or of nothing that is
	// known. The data is a claim, and can be exchanged without a trace.
	Unbound Binding = "unbound"
)

// cover is what the specification, or the program that measures, has the digest of.
type cover string

const (
	coversData  cover = "data"  // the whole data
	coversValue cover = "value" // a variable's value; some firmware hashes the data
	coversText  cover = "text"  // a loader's: the data, or a text in it
	coversOther cover = "other" // what is not in the log
)

// coverOf is what the digest of an event of a type is of. Sections are those of PFP 1.06.
//
//	type                             | covers
//	EV_SEPARATOR                     | data
//	EV_ACTION                        | data
//	EV_S_CRTM_VERSION                | data
//	EV_PLATFORM_CONFIG_FLAGS         | data
//	EV_OMIT_BOOT_DEVICE_EVENTS       | data
//	EV_EFI_ACTION                    | data
//	EV_EFI_VARIABLE_DRIVER_CONFIG    | data
//	EV_EFI_VARIABLE_AUTHORITY        | data
//	EV_EFI_VARIABLE_BOOT2            | data
//	EV_EFI_SPDM_DEVICE_POLICY        | data
//	EV_EFI_SPDM_DEVICE_AUTHORITY     | data
//	EV_EFI_GPT_EVENT                 | data
//	EV_EFI_VARIABLE_BOOT             | value
//	EV_IPL                           | text
//	EV_EVENT_TAG                     | text
//	*                                | other
//
// EV_EFI_VARIABLE_BOOT is of the value, so that which of the boot options it is nobody can
// say (EDK2, Tcg2Dxe.c; PFP has EV_EFI_VARIABLE_BOOT2 instead). Images' events have a device
// path, and the digest of the image. An error of firmware makes an EV_SEPARATOR that is the
// digest of another value than its data.
func coverOf(t Type) cover {
	switch t {
	case Separator, Action, CRTMVersion, PlatformConfigFlags, OmitBootDeviceEvents,
		EFIAction, EFIVariableDriverConfig, EFIVariableAuthority, EFIVariableBoot2, EFIGPTEvent, EFISPDMDevicePolicy, EFISPDMDeviceAuthority:
		return coversData
	case EFIVariableBoot:
		return coversValue
	case IPL, EventTag:
		return coversText
	default:
		return coversOther
	}
}

// Binding returns what of the event the digest of a bank covers, and how much of the data
// that is. What it returns is true where the log replays to the quoted value of the PCR. The
// type is not covered: whoever decides by a type has to allow for another one.
func (e Event) Binding(bank Algorithm) (covered []byte, b Binding) {
	h, proof := bank.Hash()
	if !proof {
		return nil, Unbound
	}
	hash, digest := h.New(), e.Digest(bank)
	is := func(candidate []byte) bool {
		hash.Reset()
		hash.Write(candidate)
		return bytes.Equal(hash.Sum(nil), digest)
	}
	switch coverOf(e.Type) {
	case coversData:
		if is(e.Data) {
			return e.Data, Whole
		}
	case coversValue:
		if is(e.Data) {
			return e.Data, Whole
		}
		if v, ok := ParseVariable(e.Data); ok && is(v.Value) {
			return v.Value, Part
		}
	case coversText:
		if is(e.Data) {
			return e.Data, Whole
		}
		for _, c := range loaderTexts(e.Data) {
			if is(c) {
				return c, Part
			}
		}
	case coversOther:
	}
	return nil, Unbound
}
