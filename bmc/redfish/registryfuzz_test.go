package redfish

import (
	"encoding/json"
	"testing"
)

// Whatever a BMC has for a registry, no attribute gets an empty name or more values than there is room for.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte(`{"RegistryEntries":{"Attributes":[{"AttributeName":"A","Type":"Password","ReadOnly":true,"Value":[{"ValueName":"x"}]}]}}`))
	f.Add([]byte(`{"RegistryEntries":{"Attributes":[{"AttributeName":"A","Value":{"ValueName":"x"}},7,null]},"Location":[{"Uri":"/redfish/v1/x","Language":"en"}]}`))
	f.Add([]byte(`{"Location":[{"Uri":7},{"Uri":{"extref":"/x"}},"y"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var o object
		if json.Unmarshal(b, &o) != nil {
			return
		}
		for name, e := range registryOf(&o) {
			if name == "" || len(e.values) > maxAllowed {
				t.Errorf("%q with %d values", name, len(e.values))
			}
		}
		_ = registryAt(&o)
	})
}
