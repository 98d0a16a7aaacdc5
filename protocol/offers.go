package protocol

// Offer says whether something is offered; empty is not known.
type Offer string

// The offers.
const (
	OfferedYes Offer = "yes"
	OfferedNo  Offer = "no"
	// OfferedOff is of a boot: the BMC takes the order, and firmware's settings have it switched off.
	OfferedOff Offer = "off"
)

// Offers is what a BMC and the firmware of its server offer of orders and boots, as they say.
type Offers struct {
	// The reset types (Redfish ComputerSystem.Reset).
	ForceOff         Offer `json:"forceOff,omitempty"`
	GracefulShutdown Offer `json:"gracefulShutdown,omitempty"`
	ForceRestart     Offer `json:"forceRestart,omitempty"`
	GracefulRestart  Offer `json:"gracefulRestart,omitempty"`

	// The boot targets, for once.
	Pxe      BootOffer `json:"pxe,omitzero"`
	UefiHTTP BootOffer `json:"uefiHTTP,omitzero"`
	Cd       BootOffer `json:"cd,omitzero"`
	// BootURI is a place for a URL (Redfish Boot.HttpBootUri).
	BootURI Offer `json:"bootURI,omitempty"`
}

// Boot is the offer of a target; not known for one that Rackboot arms no network boot by.
func (o Offers) Boot(t BootTarget) BootOffer {
	switch t {
	case TargetPxe:
		return o.Pxe
	case TargetUefiHTTP:
		return o.UefiHTTP
	case TargetCd:
		return o.Cd
	case TargetNone, TargetHdd, TargetSetup:
	}
	return BootOffer{}
}

// BootOffer is whether a server can be booted by a target, and what switches it on.
type BootOffer struct {
	Is Offer `json:"is,omitempty"`
	// Setting is the BIOS attribute that has it off, with its value and the one that it needs.
	Setting string `json:"setting,omitempty"`
	Value   string `json:"value,omitempty"`
	Want    string `json:"want,omitempty"`
	// Why is the reason where the BMC does not offer the target.
	Why string `json:"why,omitempty"`
}

// Switch is what is to be set, for people: IPv4HTTPSupport_00F5 is Disabled, and has to be Enabled.
func (b BootOffer) Switch() string {
	if b.Setting == "" {
		return ""
	}
	return b.Setting + " is " + b.Value + ", and has to be " + b.Want
}
