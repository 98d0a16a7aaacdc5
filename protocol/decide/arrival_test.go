package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

func TestArrivalTables(t *testing.T) {
	doctable.Of(t, "arrival.go", "arrivalRule").HoldOne(t, [][]string{
		doctable.Words(fencedLower, fencedRival, fencedSame, fencedNewer), doctable.Words(versionNewer, versionSame, versionOlder), {"same", "other"},
	}, func(in []string) string {
		return string(arrivalRule(fenced(in[0]), version(in[1]), in[2] == "same"))
	})
	doctable.Of(t, "arrival.go", "HoldAfter").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(HoldAfter(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

func TestArrives(t *testing.T) {
	followed := message.Fence{Number: 5, Hub: "b"}
	have := Mark{Head: protocol.Head{Epoch: 2, Version: 7}, Digest: "d"}
	doc := func(epoch, version uint64, digest string) Mark {
		return Mark{Head: protocol.Head{Epoch: epoch, Version: version}, Digest: digest}
	}
	for name, row := range map[string]struct {
		fence message.Fence
		doc   Mark
		found bool
		want  Arrival
	}{
		"the first":             {followed, doc(1, 1, "x"), false, ArrivalTaken},
		"the next":              {followed, doc(2, 8, "x"), true, ArrivalTaken},
		"of a higher epoch":     {followed, doc(3, 1, "x"), true, ArrivalTaken},
		"the same":              {followed, have, true, ArrivalKnown},
		"the same, other bytes": {followed, doc(2, 7, "x"), true, ArrivalOther},
		"an older one":          {followed, doc(2, 6, "x"), true, ArrivalOlder},
		"of a lower epoch":      {followed, doc(1, 9, "x"), true, ArrivalOlder},
		"of an earlier hub":     {message.Fence{Number: 4, Hub: "a"}, doc(2, 8, "x"), true, ArrivalFenced},
		"of a rival":            {message.Fence{Number: 5, Hub: "a"}, doc(2, 8, "x"), true, ArrivalFenced},
		"of a hub to come":      {message.Fence{Number: 6, Hub: "a"}, doc(2, 8, "x"), true, ArrivalAhead},
	} {
		if got := Arrives(row.fence, followed, row.doc, have, row.found); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}
