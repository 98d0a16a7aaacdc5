package redfish

import (
	"log/slog"
	"net/url"
	"testing"

	"rackboot/bmc"
)

// What was found below one path is not used for another: with a BootConfig that is kept, another
// machine would be armed.
func TestFoundBelowAnotherPath(t *testing.T) {
	const old, next = "/redfish/v1/Systems/2", "/redfish/v1/Systems/1"
	c := newCall(t.Context(), opObserve, &link{base: &url.URL{Scheme: "https", Host: "bmc"}, host: new(host)})
	for _, tt := range []struct {
		name, given string
		leave       func(l *locator)
	}{
		{"another machine is there", next, func(l *locator) {
			l.expect(bmc.SystemID{UUID: "4c4c4544-0035-3410-8050-c6c04f314733"})
			l.followed = true
			other := &system{}
			if err := other.UnmarshalJSON([]byte(`{"UUID":"5c4c4544-0035-3410-8050-c6c04f314733"}`)); err != nil {
				t.Fatal(err)
			}
			if l.stranger(c, other) == nil {
				t.Error("it is taken for the same machine")
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := newLearned()
			l := newLocator(tt.given, known, slog.New(slog.DiscardHandler))
			l.uri = old
			known.foundOEMBoot(old, old+"/Oem/Fsas/BootConfig")
			known.foundSettings(old, old+futureState)
			tt.leave(l)
			if l.uri == old {
				t.Error("the path still counts")
			}
			if uri, ok := known.oemBoot(next); ok {
				t.Errorf("the override is still at %s", uri)
			}
			if uri := known.settings(next); uri != "" {
				t.Errorf("the settings are still at %s", uri)
			}
		})
	}
}
