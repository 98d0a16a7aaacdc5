package cli

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// What a BMC said, and a condition repeats, moves no cursor of who describes the server.
func TestDescribeOfHostileMessages(t *testing.T) {
	hub := apitest.New(t)
	if _, err := hub.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	hub.Fleet.SetServer("n1", resource.ServerStatus{Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable, Message: "\x1b[2J\x1b]0;title\x07\u009b31mred"}}})
	for _, args := range [][]string{{"describe", "server", "n1"}, {"top", "--once"}} {
		var out, said bytes.Buffer
		if code := Run(t.Context(), Config{Args: args, Out: &out, Err: &said, In: strings.NewReader(""), Getenv: configured(t, hub, apitest.Token)}); code != 0 {
			t.Fatalf("exit code %d: %s", code, said.String())
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\u009b") || !strings.Contains(out.String(), "BMCUnreach") {
			t.Errorf("%v: %q", args, out.String())
		}
	}
}
