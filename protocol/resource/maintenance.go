package resource

import (
	"strings"
	"time"

	"rackboot/protocol"
)

// Maintenance boots a server into an image for a while, beside its claim: for changes of
// firmware, or to look at its hardware. While it is active it owns the server; the claim
// and its record of an installed system stay as they are (seed 000, Maintenance
// lifecycle).
type Maintenance struct {
	Header
	Spec   MaintenanceSpec   `json:"spec"`
	Status MaintenanceStatus `json:"status,omitzero"`
}

// MaintenancePolicy says who must agree before a claimed server is taken.
type MaintenancePolicy string

// The policies. A server without a claim needs nobody's word.
const (
	MaintenanceEnforced      MaintenancePolicy = "Enforced"
	MaintenanceOwnerApproval MaintenancePolicy = "OwnerApproval"
)

// MaintenancePolicies lists the policies.
func MaintenancePolicies() []MaintenancePolicy {
	return []MaintenancePolicy{MaintenanceEnforced, MaintenanceOwnerApproval}
}

// MaintenanceSpec is what somebody wants done. ServerRef never changes.
type MaintenanceSpec struct {
	ServerRef Ref `json:"serverRef"`
	// Policy defaults to OwnerApproval.
	Policy MaintenancePolicy `json:"policy,omitempty"`
	// Priority orders those that wait for one server: higher first, then older first.
	// One that is active is never pushed aside. From -1000 to 1000.
	Priority int `json:"priority,omitempty"`
	// ServerPower defaults to On. Off keeps the server off for as long as it lasts.
	ServerPower Power           `json:"serverPower,omitempty"`
	Reason      string          `json:"reason"`
	Boot        MaintenanceBoot `json:"boot,omitzero"`
	// Firmware are settings of the server's firmware that are written, in place of a boot: at Off, and taken by
	// one POST that boots nothing. Then the maintenance ends by itself. It takes the right firmware; values are not shown
	// here again. Up to 32 settings, with 1536 bytes in all.
	Firmware []FirmwareWanted `json:"firmware,omitempty"`
}

// Hide takes the values of firmware settings out, which may have somebody's token.
func (m *Maintenance) Hide() {
	for i, w := range m.Spec.Firmware {
		m.Spec.Firmware[i] = w.hidden()
	}
}

// MaintenanceBoot is what is booted at each power-on that the maintenance causes,
// always by the first boot's method. With ServerPower On, exactly
// one of Image, ImageFrom and BootEnv is given, or else the spec's Firmware.
type MaintenanceBoot struct {
	Image     string     `json:"image,omitempty"`
	ImageFrom *ImageFrom `json:"imageFrom,omitempty"`
	// BootEnv names a boot environment, in place of Image.
	BootEnv    *Ref       `json:"bootEnv,omitempty"`
	BootPolicy BootPolicy `json:"bootPolicy,omitzero"`
	// KernelArgs are those of [ClaimSpec].
	KernelArgs string `json:"kernelArgs,omitempty"`
	// IgnitionSecretRef names the Secret with the image's user data, as a claim does; nil
	// is none. The version of the moment at which the maintenance begins is the one given.
	IgnitionSecretRef *Ref `json:"ignitionSecretRef,omitempty"`
}

// MaintenanceState is how far a maintenance has come.
type MaintenanceState string

// The states.
const (
	MaintenanceQueued           MaintenanceState = "Queued"
	MaintenanceAwaitingApproval MaintenanceState = "AwaitingApproval"
	MaintenanceDenied           MaintenanceState = "Denied"
	MaintenanceActive           MaintenanceState = "Active"
	MaintenanceError            MaintenanceState = "Error"
)

// MaintenanceStates lists the states.
func MaintenanceStates() []MaintenanceState {
	return []MaintenanceState{MaintenanceQueued, MaintenanceAwaitingApproval, MaintenanceDenied, MaintenanceActive, MaintenanceError}
}

// MaintenanceStatus is what the hub made of it.
type MaintenanceStatus struct {
	ObservedGeneration uint64           `json:"observedGeneration,omitempty"`
	State              MaintenanceState `json:"state,omitempty"`
	// Message says why it is not further.
	Message string `json:"message,omitempty"`
	// Position is its place in the queue of its server, from 1; 0 unless it is Queued.
	Position int `json:"position,omitempty"`
	// AskedBy is who applied the spec as it is now. It is stored.
	AskedBy    string               `json:"askedBy,omitempty"`
	Approval   *MaintenanceApproval `json:"approval,omitempty"`
	Conditions []ConditionState     `json:"conditions,omitempty"`
}

// MaintenanceApproval is somebody's word on a maintenance.
type MaintenanceApproval struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Denied bool      `json:"denied,omitempty"`
	// Generation is the maintenance's that the word is about; of another it counts no more.
	Generation uint64 `json:"generation,omitempty"`
}

const (
	maxPriority          = 1000
	maxMaintenanceReason = 1024 // bytes
)

// Default fills policy, power and boot policy.
func (m *Maintenance) Default() {
	m.APIVersion, m.Kind = APIVersion, KindMaintenance
	if m.Spec.Policy == "" {
		m.Spec.Policy = MaintenanceOwnerApproval
	}
	if m.Spec.ServerPower == "" {
		m.Spec.ServerPower = WantOn
	}
	m.Spec.Boot.BootPolicy.Default()
}

// References names the server, and the user data where it is named.
func (m *Maintenance) References() []Reference {
	refs := ignitionReference("spec.boot.ignitionSecretRef", m.Spec.Boot.IgnitionSecretRef)
	refs = append(refs, bootEnvReference("spec.boot.bootEnv", m.Spec.Boot.BootEnv)...)
	refs = append(refs, groupReference("spec.boot.imageFrom", m.Spec.Boot.ImageFrom)...)
	refs = append(refs, bootImageReference("spec.boot.image", m.Spec.Boot.Image)...)
	return append(refs, Reference{"spec.serverRef.name", KindServer, m.Spec.ServerRef.Name})
}

// Validate reports wrong fields.
func (m *Maintenance) Validate() protocol.FieldErrors {
	var f fields
	m.check(&f)
	f.name("spec.serverRef.name", m.Spec.ServerRef.Name)
	oneOf(&f, "spec.policy", m.Spec.Policy, MaintenancePolicies()...)
	oneOf(&f, "spec.serverPower", m.Spec.ServerPower, WantOn, WantOff)
	if p := m.Spec.Priority; p < -maxPriority || p > maxPriority {
		f.Add("spec.priority", "%d is not between %d and %d", p, -maxPriority, maxPriority)
	}
	if strings.TrimSpace(m.Spec.Reason) == "" || len(m.Spec.Reason) > maxMaintenanceReason {
		f.Add("spec.reason", "say in 1 to %d bytes why", maxMaintenanceReason)
	}
	b := m.Spec.Boot
	if len(m.Spec.Firmware) > 0 {
		checkFirmware(&f, m.Spec.Firmware)
		if m.Spec.ServerPower != WantOn || b.Image != "" || b.ImageFrom != nil || b.BootEnv != nil || b.KernelArgs != "" || b.IgnitionSecretRef != nil {
			f.Add("spec.firmware", "goes with serverPower On, and with nothing that is booted")
		}
		return f.FieldErrors
	}
	if m.Spec.ServerPower == WantOn || b.Image != "" || b.BootEnv != nil {
		checkBootSource(&f, "spec.boot", b.Image, b.ImageFrom, b.BootEnv, b.BootPolicy.FirstBoot)
	}
	f.kernelArgs("spec.boot.kernelArgs", b.KernelArgs)
	b.BootPolicy.check(&f, "spec.boot.bootPolicy")
	b.IgnitionSecretRef.checkIgnition(&f, "spec.boot.ignitionSecretRef")
	if b.BootPolicy.OSReboot == OSRebootRearm {
		f.Add("spec.boot.bootPolicy.osReboot", "rearm arms the disk, and a maintenance never boots from it; use safeStop")
	}
	return f.FieldErrors
}
