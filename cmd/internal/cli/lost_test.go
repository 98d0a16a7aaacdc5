package cli

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state/heads"
)

// What a hub that has lost something does not show is nobody's release: each verb fails, and shows what is left.
func TestStoreThatLostSomething(t *testing.T) {
	h := apitest.New(t)
	if _, err := h.Store.Sets.Apply(t.Context(), storetest.Site(), store.ApplyOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	left := storetest.Hold("admin", "left", "n1")
	left.Metadata.Name = "h-left"
	if _, err := h.Store.Holds.Create(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	h.Store.Lose(&heads.Loss{Items: []heads.Item{{Kind: "res.holds", Name: "h-lost", Note: "server n2, key k, owner ha", How: heads.Missing}}})
	for _, row := range []struct {
		args, shows, says string
		exit              int
	}{
		{"get holds", "h-left", "h-lost (missing) server n2, key k, owner ha", protocol.CodeUnavailable.ExitCode()},
		{"get holds -o json", "h-left", "incomplete", protocol.CodeUnavailable.ExitCode()},
		{"get claims", "", "incomplete", protocol.CodeUnavailable.ExitCode()},
		{"get hold h-left", "h-left", "", 0},
		{"get hold h-lost", "", "means nothing", protocol.CodeUnavailable.ExitCode()},
		{"get server n99", "", "means nothing", protocol.CodeUnavailable.ExitCode()},
		{"receipt h-lost", "", "means nothing", protocol.CodeUnavailable.ExitCode()},
		{"release h-lost", "", "rackboot-hub restored", protocol.CodeUnavailable.ExitCode()},
		{"release --server n2 --key k", "", "rackboot-hub restored", protocol.CodeUnavailable.ExitCode()},
		{"fence n2 --timeout 1s", "", "not known", 11},
		{"wait claim/c1 --for released --timeout 1s", "", "", protocol.CodeTimeout.ExitCode()},
		{"events", "", "incomplete", protocol.CodeUnavailable.ExitCode()},
		{"iso list", "", "incomplete", protocol.CodeUnavailable.ExitCode()},
		{"export claims", "", "incomplete", protocol.CodeUnavailable.ExitCode()},
	} {
		t.Run(row.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			exit := Run(t.Context(), Config{Args: strings.Fields(row.args), Out: &out, Err: &errs, In: strings.NewReader(""), Getenv: configured(t, h, apitest.Token)})
			if exit != row.exit || !strings.Contains(out.String(), row.shows) || !strings.Contains(errs.String(), row.says) {
				t.Errorf("exit %d, want %d\n%s\n%s", exit, row.exit, out.String(), errs.String())
			}
		})
	}
}
