package resource

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
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
	UUID string `json:"uuid,omitempty"`
	// Architecture is amd64 or arm64. Empty is what the BMC says, or a discovery, or the server's
	// firmware by DHCP; and where none does it is not known: see [Server.Architecture].
	Architecture string `json:"architecture,omitempty"`
	BootMode     string `json:"bootMode,omitempty"` // UEFI
	// KernelArgs are added to the command line of every kernel that the server boots from
	// the network, after the image's own and before the claim's or maintenance's: see
	// [CheckKernelArgs]. They are what the machine needs, as its console.
	KernelArgs string `json:"kernelArgs,omitempty"`
	// DisablePowerOff says that the server is never powered off by Rackboot: a hold on it is refused, a
	// reboot is a restart by its BMC, and what needs an Off waits for somebody to power it off. It is the
	// field of that name of metal3's hosts.
	DisablePowerOff bool `json:"disablePowerOff,omitempty"`
	// KeepPowerRestorePolicy says that a hold leaves PowerRestorePolicy, what the server does when
	// mains power returns (Redfish ComputerSystem). Otherwise it is AlwaysOff while the server is held,
	// where its BMC can be told, and what it was before after the last hold. A held server that keeps
	// its own may come on with mains power, and is forced off again.
	KeepPowerRestorePolicy bool `json:"keepPowerRestorePolicy,omitempty"`
	// Reach is how firmware comes to its boot files; segment if empty.
	Reach Reach `json:"reach,omitempty"`
	// Profiles are names of Profiles whose params the server has, the first first. Params
	// are its own, before those of any profile.
	Profiles []string       `json:"profiles,omitempty"`
	Params   map[string]any `json:"params,omitempty"`
	// ParamsSecretRef is that of [ProfileSpec].
	ParamsSecretRef *Ref `json:"paramsSecretRef,omitempty"`
}

// ServerStatus is what the hub adds when it prints a server. Only the accepted
// identity, the enrolment to forget, shared addresses, the architectures, the mark of firmware work, what there is of discoveries, the boot
// environment and the reboot annotations are stored.
type ServerStatus struct {
	Phase Phase `json:"phase,omitempty"`
	// AcceptedIdentity is what rackctl server accept was given.
	AcceptedIdentity string `json:"acceptedIdentity,omitempty"`
	// ForgetTPM is the enrolment that rackctl server re-enrol was shown.
	ForgetTPM string `json:"forgetTPM,omitempty"`
	// Firmware is what rackctl server firmware was given.
	Firmware *FirmwareWork `json:"firmware,omitempty"`
	// Settings is the last writing of firmware settings, with what was before; shown without values.
	Settings *FirmwareRun `json:"settings,omitempty"`
	// SharedMACs are addresses that were seen at this server and another.
	SharedMACs []SharedMAC `json:"sharedMACs,omitempty"`
	// Architecture is what the server's BMC says, where the spec says nothing.
	Architecture string `json:"architecture,omitempty"`
	// HeardArchitecture is what the server's firmware said by DHCP while nobody else said one.
	HeardArchitecture string `json:"heardArchitecture,omitempty"`
	// Discovered is what the last discovery found; nil before the first. Discovery is nil
	// where none was asked for and none has failed.
	Discovered *Discovered      `json:"discovered,omitempty"`
	Discovery  *DiscoveryStatus `json:"discovery,omitempty"`
	// BootEnv is the boot environment that was in force last, and OS its os.name as it was
	// merged for the server: of one ending in -install the system that is, or becomes,
	// installed. A change that is refused changes neither.
	BootEnv string `json:"bootEnv,omitempty"`
	// BootEnvOf is the UID of the owner for whom it was.
	BootEnvOf string `json:"bootEnvOf,omitempty"`
	// Reboots are the reboot annotations that callers have applied.
	Reboots []RebootSet   `json:"reboots,omitempty"`
	OS      string        `json:"os,omitempty"`
	Claim   string        `json:"claim,omitempty"`
	Report  *ServerReport `json:"report,omitempty"`
	// ReadAt is when the last read of the server began that is on its agent's disk, by the
	// hub's clock. Stale says that it is older than [StaleAfter]: what Phase and Report say of
	// its power is of then.
	ReadAt *time.Time `json:"readAt,omitempty"`
	Stale  bool       `json:"stale,omitempty"`
	// SafeStop and Detection are of the BMC's inventory, where it was read.
	SafeStop  protocol.SafeStopClass  `json:"safeStop,omitempty"`
	Detection protocol.DetectionClass `json:"detection,omitempty"`
	// Detects is what is noticed and how soon, in words; SafeStopReason what the class
	// rests on. Restore is what the server does when mains power returns.
	Detects        string                 `json:"detects,omitempty"`
	SafeStopReason string                 `json:"safeStopReason,omitempty"`
	Restore        protocol.RestorePolicy `json:"restore,omitempty"`
	// EvidenceClass and Secrets are those of its owner's [BootConfigurationStatus]; empty where
	// nobody boots it.
	EvidenceClass EvidenceClass `json:"evidenceClass,omitempty"`
	Secrets       SecretsWay    `json:"secrets,omitempty"`
	// Conditions are the agent's and the hub's together.
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// ArchitectureSource is who says which architecture a server has.
type ArchitectureSource string

// The sources, the most trusted first.
const (
	ArchitectureSpec      ArchitectureSource = "spec"
	ArchitectureBMC       ArchitectureSource = "BMC"
	ArchitectureDiscovery ArchitectureSource = "discovery" // what ran on it in one
	// ArchitectureFirmware is its firmware by DHCP, which anybody on the segment may claim to be.
	ArchitectureFirmware ArchitectureSource = "firmware by DHCP"
)

// Architecture is what is known of the server's: what its spec says, else its BMC, else what ran
// on it in a discovery, else its firmware by DHCP. Empty is not known, and nothing is assumed then: an
// image that is for one architecture is taken with that one, and of any other somebody must say which.
func (s *Server) Architecture() string {
	is, _ := s.ArchitectureBy()
	return is
}

// ArchitectureBy is [Server.Architecture], and who says it.
func (s *Server) ArchitectureBy() (is string, by ArchitectureSource) {
	found := ""
	if d := s.Status.Discovered; d != nil && d.Inventory != nil {
		found = d.Inventory.CPU.Architecture
	}
	switch {
	case s.Spec.Architecture != "":
		return s.Spec.Architecture, ArchitectureSpec
	case s.Status.Architecture != "":
		return s.Status.Architecture, ArchitectureBMC
	case found != "":
		return found, ArchitectureDiscovery
	case s.Status.HeardArchitecture != "":
		return s.Status.HeardArchitecture, ArchitectureFirmware
	}
	return "", ""
}

// Default fills the boot mode, and writes MACs in one form.
func (s *Server) Default() {
	s.APIVersion, s.Kind = APIVersion, KindServer
	if s.Spec.BootMode == "" {
		s.Spec.BootMode = "UEFI"
	}
	s.Spec.BootMAC = canonicalMAC(s.Spec.BootMAC)
	for i, m := range s.Spec.MACs {
		s.Spec.MACs[i] = canonicalMAC(m)
	}
	s.Spec.UUID = strings.ToLower(s.Spec.UUID)
}

func canonicalMAC(s string) string {
	if hw, err := net.ParseMAC(s); err == nil && len(hw) == 6 {
		return hw.String()
	}
	return s
}

// References names the BMC, the segment, the profiles and the Secret of params.
func (s *Server) References() []Reference {
	refs := []Reference{
		{"spec.bmcRef.name", KindBMC, s.Spec.BMCRef.Name},
		{"spec.segmentRef.name", KindSegment, s.Spec.SegmentRef.Name},
	}
	for i, name := range s.Spec.Profiles {
		refs = append(refs, Reference{fmt.Sprintf("spec.profiles[%d]", i), KindProfile, name})
	}
	return append(refs, paramsReference("spec.paramsSecretRef", s.Spec.ParamsSecretRef)...)
}

// Validate reports wrong fields.
func (s *Server) Validate() protocol.FieldErrors {
	var f fields
	s.check(&f)
	f.name("spec.bmcRef.name", s.Spec.BMCRef.Name)
	f.name("spec.segmentRef.name", s.Spec.SegmentRef.Name)
	f.mac("spec.bootMAC", s.Spec.BootMAC)
	for i, m := range s.Spec.MACs {
		f.mac(fmt.Sprintf("spec.macs[%d]", i), m)
	}
	if s.Spec.SystemURI != "" && !strings.HasPrefix(s.Spec.SystemURI, "/redfish/") {
		f.Add("spec.systemURI", "%q is not a path such as /redfish/v1/Systems/1", s.Spec.SystemURI)
	}
	if u := s.Spec.UUID; u != "" && !protocol.ValidUUID(u) {
		f.Add("spec.uuid", "%q is not a UUID", u)
	}
	if s.Spec.Architecture != "" {
		oneOf(&f, "spec.architecture", s.Spec.Architecture, "amd64", "arm64")
	}
	oneOf(&f, "spec.bootMode", s.Spec.BootMode, "UEFI")
	f.kernelArgs("spec.kernelArgs", s.Spec.KernelArgs)
	if s.Spec.Reach != "" {
		oneOf(&f, "spec.reach", s.Spec.Reach, reaches...)
	}
	s.checkParams(&f)
	return f.FieldErrors
}

// checkParams checks what templates of boot environments are given.
func (s *Server) checkParams(f *fields) {
	if n := len(s.Spec.Profiles); n > maxProfiles {
		f.Add("spec.profiles", "has %d entries; give at most %d", n, maxProfiles)
	}
	for i, name := range s.Spec.Profiles {
		at := fmt.Sprintf("spec.profiles[%d]", i)
		f.name(at, name)
		if name == GlobalProfile {
			f.Add(at, "every server has the profile %s, after those that it names; leave it out", GlobalProfile)
		}
		if slices.Index(s.Spec.Profiles, name) < i {
			f.Add(at, "%q is named twice; the first place counts", name)
		}
	}
	f.params("spec.params", s.Spec.Params)
	if r := s.Spec.ParamsSecretRef; r != nil {
		f.name("spec.paramsSecretRef.name", r.Name)
	}
}
