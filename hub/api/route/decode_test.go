package route

import (
	"testing"

	"rackboot/protocol/resource"
)

// FuzzObject: no body panics, what is refused has a reason, and what is taken
// is a resource of the kind that it says.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r1"},"spec":{"softTimeout":"90s"}}`))
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Server","spec":{"macs":["x",7]}}`))
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Claim","spec":{"serverRef":null,"colour":1}} {}`))
	f.Add([]byte(`{"kind":7}`))
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Secret","spec":{"type":"generic","data":{"a":"Y2FuYXJ5","b":"?"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		obj, wrong := Object(raw)
		for _, w := range wrong {
			if w.Message == "" {
				t.Errorf("no message at %q", w.Path)
			}
		}
		if len(wrong) > 0 {
			return
		}
		kind := obj.Head().Kind
		if obj.Head().APIVersion != resource.APIVersion || resource.NewObject(kind) == nil {
			t.Errorf("%+v", obj.Head())
		}
		obj.Default()
		obj.Validate()
	})
}
