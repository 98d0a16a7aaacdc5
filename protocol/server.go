package protocol

import (
	"fmt"
	"net"
	"strings"
)

// Server is one machine: a system of a BMC and how it boots.
type Server struct {
	Header
	Spec   ServerSpec   `json:"spec"`
	Status ServerStatus `json:"status,omitzero"`
}

// ServerSpec says which system it is and how firmware sees it.
type ServerSpec struct {
	BMCRef Ref `json:"bmcRef"`
	// SystemURI is the Redfish path of the system; empty selects the only system
	// that has a Reset action.
	SystemURI string `json:"systemURI,omitempty"`
	// SegmentRef is the segment that the server boots on.
	SegmentRef Ref `json:"segmentRef"`
	// BootMAC is the MAC address that the server boots from.
	BootMAC string `json:"bootMAC"`
	// MACs are the other MAC addresses of the server.
	MACs []string `json:"macs,omitempty"`
	// UUID is the SMBIOS UUID, used where the MAC address is not known.
	UUID         string `json:"uuid,omitempty"`
	Architecture string `json:"architecture,omitempty"` // amd64 (default) or arm64
	BootMode     string `json:"bootMode,omitempty"`     // UEFI
}

// ServerStatus is what the hub adds when it prints a server. Only the accepted
// identity is stored.
type ServerStatus struct {
	Phase Phase `json:"phase,omitempty"`
	// AcceptedIdentity is what rackctl server accept was given.
	AcceptedIdentity string `json:"acceptedIdentity,omitempty"`
	// Firmware is what rackctl server firmware was given.
	Firmware *FirmwareWork `json:"firmware,omitempty"`
	Claim    string        `json:"claim,omitempty"`
	Report   *ServerReport `json:"report,omitempty"`
	// SafeStop and Detection are of the BMC's inventory, where it was read.
	SafeStop  SafeStopClass  `json:"safeStop,omitempty"`
	Detection DetectionClass `json:"detection,omitempty"`
	// Conditions are the agent's and the hub's together.
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// Default fills architecture and boot mode, and writes MACs in one form.
func (s *Server) Default() {
	s.APIVersion, s.Kind = APIVersion, KindServer
	if s.Spec.Architecture == "" {
		s.Spec.Architecture = "amd64"
	}
	if s.Spec.BootMode == "" {
		s.Spec.BootMode = "UEFI"
	}
	s.Spec.BootMAC = canonicalMAC(s.Spec.BootMAC)
	for i, m := range s.Spec.MACs {
		s.Spec.MACs[i] = canonicalMAC(m)
	}
	s.Spec.UUID = strings.ToLower(s.Spec.UUID)
}

// ValidUUID says whether a text is a UUID in lower case.
func ValidUUID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 36
}

// InterfaceMAC is a MAC address in the form of Server's; empty if it is of no
// interface: a group's, all zero, or none at all.
func InterfaceMAC(s string) string {
	hw, err := net.ParseMAC(s)
	if err != nil || len(hw) != 6 || hw[0]&1 == 1 || hw.String() == "00:00:00:00:00:00" {
		return ""
	}
	return hw.String()
}

func canonicalMAC(s string) string {
	if hw, err := net.ParseMAC(s); err == nil && len(hw) == 6 {
		return hw.String()
	}
	return s
}

// References names the BMC and the segment.
func (s *Server) References() []Reference {
	return []Reference{
		{"spec.bmcRef.name", KindBMC, s.Spec.BMCRef.Name},
		{"spec.segmentRef.name", KindSegment, s.Spec.SegmentRef.Name},
	}
}

// Validate reports wrong fields.
func (s *Server) Validate() FieldErrors {
	var f FieldErrors
	s.check(&f)
	f.name("spec.bmcRef.name", s.Spec.BMCRef.Name)
	f.name("spec.segmentRef.name", s.Spec.SegmentRef.Name)
	f.mac("spec.bootMAC", s.Spec.BootMAC)
	for i, m := range s.Spec.MACs {
		f.mac(fmt.Sprintf("spec.macs[%d]", i), m)
	}
	if s.Spec.SystemURI != "" && !strings.HasPrefix(s.Spec.SystemURI, "/redfish/") {
		f.add("spec.systemURI", "%q is not a path such as /redfish/v1/Systems/1", s.Spec.SystemURI)
	}
	if u := s.Spec.UUID; u != "" && !ValidUUID(u) {
		f.add("spec.uuid", "%q is not a UUID", u)
	}
	oneOf(&f, "spec.architecture", s.Spec.Architecture, "amd64", "arm64")
	oneOf(&f, "spec.bootMode", s.Spec.BootMode, "UEFI")
	return f
}
