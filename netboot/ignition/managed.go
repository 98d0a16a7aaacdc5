package ignition

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ManagedName is the name of the Secret with the translation of a Secret's stub. The one
// that people named keeps its name and its stub, for groups that do not consent (seed
// 001). The error is invalid: the name would be too long.
func ManagedName(secret string) (string, error) {
	name := secret + resource.ManagedStubSuffix
	if !protocol.ValidName(name) {
		return "", protocol.Errorf(protocol.CodeInvalid, opTranslate, "Secret %q has no valid name with %s behind it", secret, resource.ManagedStubSuffix).
			WithHint("give the Secret a name that is %d characters shorter", len(resource.ManagedStubSuffix))
	}
	return name, nil
}
