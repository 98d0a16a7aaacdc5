package tftp

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestAdmitTable(t *testing.T) {
	kinds := []string{string(kindRead), string(kindWrite), string(kindMalformed), string(kindOther)}
	rooms := []string{string(roomFree), string(roomClient), string(roomTotal), string(roomFull)}
	doctable.Of(t, "admit.go", "admit").HoldOne(t, [][]string{kinds, doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), rooms}, func(in []string) string {
		return string(admit(kind(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "yes", room(in[5])))
	})
}

func TestEndedTable(t *testing.T) {
	codes := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	doctable.Of(t, "result.go", "ended").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), codes}, func(in []string) string {
		return string(ended(in[0] == "yes", in[1] == "yes", uint16(in[2][0]-'0')))
	})
}

// TestRefusals: what ends a request at once has an ERROR, what a client should ask
// again for has silence.
func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		o    outcome
		code int // -1 is silence
	}{
		{outcomeServe, -1},
		{outcomeStray, -1},     // RFC 1350 section 7: an ERROR is never answered
		{outcomeRate, -1},      // "later"
		{outcomeRepeated, -1},  // its transfer answers
		{outcomeClient, -1},    // "later": EDK2 asks six times every 4 s
		{outcomeWait, -1},      // it is answered when its turn comes
		{outcomeTotal, -1},     // "later"
		{outcomeMalformed, 4},  // RFC 1350: illegal operation
		{outcomeWrite, 2},      // RFC 1350: access violation
		{outcomeMode, 0},       // no code of its own
		{outcomeName, 1},       // shim goes on only after code 1
		{outcome("newer"), -1}, // unknown: nothing
	} {
		b := row.o.refusal()
		if row.code < 0 {
			if b != nil {
				t.Errorf("%s answers % x", row.o, b)
			}
			continue
		}
		if n, ok := number(b); !ok || opcode(b) != opError || int(n) != row.code || b[len(b)-1] != 0 {
			t.Errorf("%s answers % x, want code %d", row.o, b, row.code)
		}
	}
}
