package resource

import (
	"strings"
	"time"

	"rackboot/protocol"
)

// APIVersion is the apiVersion of every resource.
const APIVersion = "rackboot/v1"

// Kind is the kind of a resource.
type Kind string

// The kinds. BootConfiguration, Agent and Hold are made by the hub: the first
// from claims and maintenances, the second by joining, the third by rackctl hold.
const (
	KindRack              Kind = "Rack"
	KindAgent             Kind = "Agent"
	KindSegment           Kind = "Segment"
	KindBMC               Kind = "BMC"
	KindServer            Kind = "Server"
	KindClaim             Kind = "Claim"
	KindBootConfiguration Kind = "BootConfiguration"
	KindHold              Kind = "Hold"
	KindSecret            Kind = "Secret"
	KindMaintenance       Kind = "Maintenance"
	KindParam             Kind = "Param"
	KindProfile           Kind = "Profile"
	KindTemplate          Kind = "Template"
	KindBootEnv           Kind = "BootEnv"
	KindBootImage         Kind = "BootImage"
	KindManagedBootImages Kind = "ManagedBootImages"
	KindServerGroup       Kind = "ServerGroup"
	KindGroupRevision     Kind = "GroupRevision"
	KindFirmwareProfile   Kind = "FirmwareProfile"
	KindFreeze            Kind = "Freeze"
	KindAgentUpgrade      Kind = "AgentUpgrade"
)

// Plural is the kind's name in URLs and on the command line, such as "claims"; empty of an
// unknown kind.
func (k Kind) Plural() string {
	switch k {
	case KindSecret:
		return "secrets"
	case KindParam:
		return "params"
	case KindProfile:
		return "profiles"
	case KindTemplate:
		return "templates"
	case KindBootEnv:
		return "bootenvs"
	case KindBootImage:
		return "bootimages"
	case KindManagedBootImages:
		return "managedbootimages"
	case KindServerGroup:
		return "servergroups"
	case KindRack:
		return "racks"
	case KindSegment:
		return "segments"
	case KindBMC:
		return "bmcs"
	case KindServer:
		return "servers"
	case KindClaim:
		return "claims"
	case KindMaintenance:
		return "maintenances"
	case KindAgent:
		return "agents"
	case KindBootConfiguration:
		return "bootconfigurations"
	case KindGroupRevision:
		return "grouprevisions"
	case KindHold:
		return "holds"
	case KindFirmwareProfile:
		return "firmwareprofiles"
	case KindFreeze:
		return "freezes"
	case KindAgentUpgrade:
		return "agentupgrades"
	}
	return ""
}

// Metadata is what every resource has. UID, Generation and CreatedAt are set by
// the hub: UID once, Generation at each change of spec.
type Metadata struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	UID         string            `json:"uid,omitempty"`
	Generation  uint64            `json:"generation,omitempty"`
	CreatedAt   *time.Time        `json:"createdAt,omitempty"`
	// DeletedAt is set when deletion was asked for and something must end first:
	// a Claim is Releasing until its server was proved Off.
	DeletedAt *time.Time `json:"deletedAt,omitempty"`
	// Revision is the hub store's revision of the resource, for compare-and-set.
	Revision uint64 `json:"revision,omitempty"`
}

// Header is apiVersion, kind and metadata of a resource.
type Header struct {
	APIVersion string   `json:"apiVersion"`
	Kind       Kind     `json:"kind"`
	Metadata   Metadata `json:"metadata"`
}

// Head returns the header.
func (h *Header) Head() *Header { return h }

// Object is any resource. Default fills what the spec leaves out; Validate
// reports everything that is wrong with the resource by itself.
type Object interface {
	Head() *Header
	Default()
	Validate() protocol.FieldErrors
}

// Referrer is an Object whose spec names other resources, which must exist.
type Referrer interface {
	References() []Reference
}

// Reference is one name in a spec.
type Reference struct {
	Path string // spec.bmcRef.name
	Kind Kind
	Name string
}

// Ref names a resource in a spec.
type Ref struct {
	Name string `json:"name"`
}

func (f *fields) name(path, s string) {
	if !protocol.ValidName(s) {
		f.Add(path, "%q is not a name: use 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit", s)
	}
}

func oneOf[T ~string](f *fields, path string, v T, allowed ...T) {
	var words []string
	for _, a := range allowed {
		if v == a {
			return
		}
		words = append(words, string(a))
	}
	f.Add(path, "%q is not one of %s", string(v), strings.Join(words, ", "))
}

func (h *Header) check(f *fields) {
	f.name("metadata.name", h.Metadata.Name)
	for k := range h.Metadata.Labels {
		if k == "" || strings.ContainsAny(k, " \t\n=,") {
			f.Add("metadata.labels", "%q is not a label key: white space, = and , are not allowed", k)
		}
	}
}
