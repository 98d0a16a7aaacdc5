package resource

import "testing"

func TestOtherKind(t *testing.T) {
	for name, want := range map[string]Kind{"ServerClaim": KindClaim, "serverclaims": KindClaim, "ServerMaintenance": KindMaintenance, "baremetalhosts": KindServer} {
		if got, ok := OtherKind(name); !ok || got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, k := range Kinds() {
		if got, ok := OtherKind(string(k)); ok {
			t.Errorf("%s is %s besides", k, got)
		}
	}
}
