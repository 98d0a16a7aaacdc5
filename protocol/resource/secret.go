package resource

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rackboot/protocol"
)

// Secret is something that only the hub's store, one agent and one server may know.
// What is in it is written and never read back: no answer, export, log or event has it.
type Secret struct {
	Header
	Spec   SecretSpec   `json:"spec"`
	Status SecretStatus `json:"status,omitzero"`
}

// SecretType says what a Secret is for, and which names its data must have.
type SecretType string

// The types.
const (
	SecretBMC      SecretType = "bmc-credentials" // username, password
	SecretIgnition SecretType = "ignition"        // ignition
	SecretRegistry SecretType = "registry"        // username, password; or token
	SecretGeneric  SecretType = "generic"         // any names
	SecretParams   SecretType = "params"          // names of params; the values are text
)

// SecretTypes lists all types.
func SecretTypes() []SecretType {
	return []SecretType{SecretBMC, SecretIgnition, SecretRegistry, SecretGeneric, SecretParams}
}

// The bounds of a Secret, in names and bytes. Those of an account keep what travels to
// an agent for each BMC small.
const (
	MaxSecretNames    = 32
	MaxSecretValue    = 64 << 10
	MaxSecretData     = 96 << 10
	MaxSecretUsername = 64
	MaxSecretPassword = 128
	MaxSecretRegistry = 8 << 10 // each value of a registry's account; tokens are long
)

// The names of an account's data.
const (
	SecretUsername = "username"
	SecretPassword = "password"
	// SecretToken is the name of a token that a registry takes as it is.
	SecretToken = "token"
	// SecretUserData is the name of user data: Ignition of version 2 or 3, or Butane.
	SecretUserData = "ignition"
)

// SecretSpec is what people write.
type SecretSpec struct {
	Type SecretType `json:"type"`
	// Data are the values by name, in base64 where they are written. It replaces what
	// there was; a Secret without data keeps what it has.
	Data SecretData `json:"data,omitzero"`
}

// SecretStatus is what people may know of a Secret.
type SecretStatus struct {
	// Version grows by one whenever the data changes.
	Version uint64 `json:"version,omitempty"`
	// Digest is an HMAC of name, type and data under a key of the hub: it changes with
	// the content, and is useless for trying guesses anywhere else.
	Digest string `json:"digest,omitempty"`
	// ChangedAt is when the data was last written.
	ChangedAt *time.Time `json:"changedAt,omitempty"`
	// UsedBy are the resources that refer to it, such as BMC/b1.
	UsedBy []string `json:"usedBy,omitempty"`
	// Rotation is the last change by the hub; a write by a person ends it.
	Rotation   *Rotation        `json:"rotation,omitempty"`
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// Default sets kind and version.
func (s *Secret) Default() { s.APIVersion, s.Kind = APIVersion, KindSecret }

// Validate reports wrong fields. No message has a value.
func (s *Secret) Validate() protocol.FieldErrors {
	var f fields
	s.check(&f)
	oneOf(&f, "spec.type", s.Spec.Type, SecretTypes()...)
	if s.Spec.Data == nil {
		return f.FieldErrors
	}
	s.checkSize(&f)
	need := map[SecretType][]string{
		SecretBMC: {SecretPassword, SecretUsername}, SecretRegistry: {SecretPassword, SecretUsername}, SecretIgnition: {SecretUserData},
	}[s.Spec.Type]
	if _, token := s.Spec.Data[SecretToken]; token && s.Spec.Type == SecretRegistry {
		need = []string{SecretToken}
	}
	if got := slices.Sorted(maps.Keys(s.Spec.Data)); need != nil && !slices.Equal(got, need) {
		f.Add("spec.data", "a secret of type %s has %s and nothing else", s.Spec.Type, strings.Join(need, " and "))
	} else if s.Spec.Type == SecretBMC {
		s.checkWord(&f, SecretUsername, MaxSecretUsername)
		s.checkWord(&f, SecretPassword, MaxSecretPassword)
	} else if s.Spec.Type == SecretRegistry {
		for _, name := range need {
			s.checkWord(&f, name, MaxSecretRegistry)
		}
	}
	return f.FieldErrors
}

func (s *Secret) checkSize(f *fields) {
	total := 0
	if n := len(s.Spec.Data); n == 0 || n > MaxSecretNames {
		f.Add("spec.data", "there are %d values; give 1 to %d", n, MaxSecretNames)
	}
	for name, value := range s.Spec.Data {
		total += len(value)
		// The name is not repeated: it may be a value in the wrong place.
		if params := s.Spec.Type == SecretParams; params && !validParamName(name) {
			f.Add("spec.data", "one of the names is not that of a param")
			continue
		} else if !params && !validDataName(name) {
			f.Add("spec.data", "one of the names is not 1 to 63 of A-Z, a-z, 0-9, ., _ and -")
			continue
		}
		if s.Spec.Type == SecretParams && !utf8.Valid(value) {
			f.Add("spec.data."+name, "is not UTF-8, and params are text")
		}
		if len(value) == 0 || len(value) > MaxSecretValue {
			f.Add("spec.data."+name, "has %d bytes; give 1 to %d", len(value), MaxSecretValue)
		}
	}
	if total > MaxSecretData {
		f.Add("spec.data", "all values together have %d bytes, more than %d", total, MaxSecretData)
	}
}

// checkWord checks a part of an account, which is sent in HTTP headers and JSON.
func (s *Secret) checkWord(f *fields, name string, most int) {
	value := s.Spec.Data[name]
	switch {
	case len(value) > most:
		f.Add("spec.data."+name, "has %d bytes; %s has at most %d", len(value), name, most)
	case !utf8.Valid(value) || strings.ContainsFunc(string(value), unicode.IsControl):
		f.Add("spec.data."+name, "has a line end or another control character; leave it out")
	case name == SecretUsername && strings.Contains(string(value), ":"):
		f.Add("spec.data."+name, "has a colon, which HTTP cannot send in a user name (RFC 7617, section 2)")
	}
}

func validDataName(s string) bool {
	return s != "" && len(s) <= 63 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// The schemes of a credentialsRef.
const (
	localScheme  = "local:"
	secretScheme = "secret:"
)

// SecretOf is the Secret that a credentialsRef names; empty for local:NAME.
func SecretOf(ref string) string {
	name, ok := strings.CutPrefix(ref, secretScheme)
	if !ok || !protocol.ValidName(name) {
		return ""
	}
	return name
}

// LocalOf is the file that a credentialsRef names; empty for secret:NAME.
func LocalOf(ref string) string {
	name, ok := strings.CutPrefix(ref, localScheme)
	if !ok || !protocol.ValidName(name) {
		return ""
	}
	return name
}

func (f *fields) credentialsRef(path, ref string) {
	if LocalOf(ref) == "" && SecretOf(ref) == "" {
		f.Add(path, "%q is neither secret:NAME, a Secret of type %s, nor local:NAME, a file in the agent's credentials folder", ref, SecretBMC)
	}
}

// secretReference is the Secret of a credentialsRef, if it has one.
func secretReference(path, ref string) []Reference {
	if name := SecretOf(ref); name != "" {
		return []Reference{{path, KindSecret, name}}
	}
	return nil
}
