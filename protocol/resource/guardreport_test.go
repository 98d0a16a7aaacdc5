package resource

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

// Every state has words that are its own, and say what is in the way.
func TestGuardReportWords(t *testing.T) {
	said := map[string]GuardState{}
	for _, s := range GuardStates() {
		text := GuardReport{State: s, Before: protocol.RestoreLastState, Why: "503"}.Words()
		if other, twice := said[text]; twice || text == string(s) || !strings.HasSuffix(text, " (503)") {
			t.Errorf("%s says %q, %s too", s, text, other)
		}
		said[text] = s
		tells := s != GuardRefused && s != GuardKept
		if strings.Contains(text, "LastState") != tells {
			t.Errorf("%s says %q", s, text)
		}
	}
	if text := (GuardReport{State: GuardDue}).Words(); !strings.HasPrefix(text, "not known") {
		t.Errorf("one that is not known is %q", text)
	}
}
