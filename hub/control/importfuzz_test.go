package control

import (
	"encoding/json"
	"testing"

	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// FuzzImport imports files of anybody, with every key and word accepted: nothing panics,
// no grant is taken over, a claim that is bound has a configuration that is installed or
// waits for a decision, and every hold lies.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`[{"kind":"Rack","metadata":{"name":"r1","uid":"u1","generation":1,"createdAt":"2026-11-20T09:00:00Z"},"spec":{}}]`), []byte("key"))
	f.Add([]byte(`[{"kind":"BootConfiguration","metadata":{"name":"c1","uid":"u","generation":1},"spec":{"server":"n1","claim":"c1","ownerUID":"x","grant":"AAAA"},"status":{"signedProvisioned":"0oRDoQEn","adopted":{"imageDigest":""}}}]`), []byte{})
	f.Add([]byte(`[{"kind":"Claim","metadata":{"name":"c1"}},{"kind":"Hold","metadata":{"name":"h"},"spec":{"server":"n1"},"status":{"releasedAt":"2026-11-20T09:00:00Z"}},{"kind":"Server"},{"kind":"Segment","spec":{"bmcs":{"accept":null}}}]`), []byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(func(t *testing.T, raw, key []byte) {
		var parts []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil || len(parts) > 100 {
			return
		}
		var objs []resource.Object
		for _, p := range parts {
			var h resource.Header
			if json.Unmarshal(p, &h) != nil {
				return
			}
			if o := resource.NewObject(h.Kind); o != nil && json.Unmarshal(p, o) == nil {
				objs = append(objs, o)
			}
		}
		m := export(t)
		objs = append(objs, m.objects()...)
		b := newBench(t, &movingTag{})
		r := api.ImportRequest{Reason: "r", AcceptKeys: []string{api.AcceptAllKeys}, AcceptWords: true, Keys: append(m.keys, api.ExportKey{Rack: "r1", Key: key})}
		out, err := b.control.Owners.Imports.Import(t.Context(), objs, r, "admin")
		if err != nil || len(out.Results) != len(objs) {
			t.Fatalf("%d results for %d objects, %v", len(out.Results), len(objs), err)
		}
		installed := map[string]bool{}
		for _, cfg := range store.List[*resource.BootConfiguration](b.store.Objects) {
			if len(cfg.Spec.Grant) != 0 || !cfg.Installed() {
				t.Fatalf("%+v", cfg)
			}
			installed[cfg.Spec.Owner.UID] = true
		}
		for _, cl := range store.List[*resource.Claim](b.store.Objects) {
			if cl.Status.Server != "" && !installed[cl.Metadata.UID] && !cl.Status.Decision.Open() {
				t.Fatalf("%+v", cl)
			}
		}
		for _, h := range store.List[*resource.Hold](b.store.Objects) {
			if h.Status.ReleasedAt != nil {
				t.Fatalf("%+v", h)
			}
		}
	})
}
