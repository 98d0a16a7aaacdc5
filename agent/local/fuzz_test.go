package local

import (
	"encoding/json"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// FuzzBody decodes any body for any server. What is taken is a hold that keeps every
// rule and whose owner is the caller; everything else is invalid, with a hint.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `null`, `{"key":"k"}`, `{"key":"k","mode":"hard","softTimeout":"3m0s","reason":"smoke","ref":"x","ttl":"1h","onExpiry":"release"}`,
		`{"key":"k","forceDuringFirmware":true}`, `{"key":"k","mode":"HARD"}`, `{"KEY":"k"}`, `{"key":"k","owner":"admin"}`, `{"key":"a b"}`,
		`{"key":"k"} x`, `{"key":"k","ttl":-1}`, `{"key":"k","ttl":"9999999h"}`, `{'key':'k'}`, `[]`, `"k"`, "{\"key\":\"\xff\"}",
		`{"breakGlass":"it burns"}`, `{"reason":"cables are out"}`,
	} {
		f.Add("n1", []byte(body))
	}
	f.Add("N 1", []byte(`{"key":"k"}`))
	f.Fuzz(func(t *testing.T, server string, raw []byte) {
		var release api.ReleaseRequest
		var confirm api.ConfirmRequest
		for _, into := range []any{&release, &confirm} {
			if err := decode("test", raw, into); err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "") {
				t.Errorf("%v", err)
			}
		}
		var req api.HoldRequest
		err := decode("hold", raw, &req)
		if err == nil {
			var h resource.ActiveHold
			if h, err = asked(req, server, me, "id-1"); err == nil {
				check(t, h, server)
				return
			}
		}
		if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
	})
}

func check(t *testing.T, h resource.ActiveHold, server string) {
	t.Helper()
	if h.ID != "id-1" || h.Owner != me || h.Server != server || h.Key == "" || h.ConfirmedDown != nil {
		t.Errorf("%+v", h)
	}
	if h.Mode != resource.StopSoft && h.Mode != resource.StopHard {
		t.Errorf("mode %q", h.Mode)
	}
	if h.TTL < 0 || h.TTL == 0 && h.OnExpiry != "" || h.TTL > 0 && h.OnExpiry != resource.ExpiryKeep && h.OnExpiry != resource.ExpiryRelease {
		t.Errorf("time to live %s, then %q", h.TTL, h.OnExpiry)
	}
	raw, err := json.Marshal(h)
	if err != nil || len(raw) > 16<<10 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
