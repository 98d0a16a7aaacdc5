package store

import (
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
)

func TestConfirmDown(t *testing.T) {
	mem := storetest.NewMemory()
	s, h, _ := held(t, mem)
	id := h.Metadata.Name
	for _, reason := range []string{"", "  \n", strings.Repeat("x", 1025)} {
		_, err := s.Holds.ConfirmDown(t.Context(), id, "admin", reason)
		wantCode(t, err, protocol.CodeInvalid)
	}
	_, err := s.Holds.ConfirmDown(t.Context(), "nosuch", "admin", "looked")
	wantCode(t, err, protocol.CodeNotFound)
	first, err := s.Holds.ConfirmDown(t.Context(), id, "admin", "both cables are out")
	if c := first.Status.ConfirmedDown; err != nil || c == nil || c.By != "admin" || c.Reason != "both cables are out" || c.At.IsZero() {
		t.Fatalf("%+v, %v", first, err)
	}
	s = open(t, mem)
	again, err := s.Holds.ConfirmDown(t.Context(), id, "admin", "both cables are out")
	if err != nil || again.Metadata.Revision != first.Metadata.Revision || *again.Status.ConfirmedDown != *first.Status.ConfirmedDown {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	for _, row := range [][2]string{{"admin", "burnt"}, {"ha", "both cables are out"}} {
		_, err := s.Holds.ConfirmDown(t.Context(), id, row[0], row[1])
		wantCode(t, err, protocol.CodeConflict)
		if !strings.Contains(err.Error(), "both cables are out") {
			t.Errorf("%v does not say what was confirmed", err)
		}
	}
	if _, err := s.Holds.Release(t.Context(), id, "admin", ""); err != nil {
		t.Fatal(err)
	}
	_, err = s.Holds.ConfirmDown(t.Context(), id, "admin", "both cables are out")
	wantCode(t, err, protocol.CodeConflict)
}
