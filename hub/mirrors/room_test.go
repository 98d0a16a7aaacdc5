package mirrors

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"rackboot/protocol/resource"
)

// What an agent answers has words of repositories, which anybody may have written.
func FuzzBodies(f *testing.F) {
	f.Add([]byte(`{"at":"2026-11-26T08:00:00Z","quota":1,"repositories":[{"url":"https://deb.example/","answers":"No","why":"x\u001b[2Jy"}]}`))
	f.Add([]byte(`{"objects":3,"bytes":7,"kept":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := status(body); err == nil {
			for _, r := range s.Repositories {
				if strings.ContainsFunc(r.Why, unicode.IsControl) {
					t.Errorf("%q", r.Why)
				}
			}
		}
		if out, err := flushed(body); err != nil && out != (resource.MirrorFlushed{}) {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

func TestStatusIsBounded(t *testing.T) {
	raw, err := json.Marshal(resource.MirrorStatus{Repositories: []resource.MirrorRepository{{URL: strings.Repeat("x", resource.MaxMirrorStatus)}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := status(raw); err == nil {
		t.Error("it is as long as an agent likes")
	}
}
