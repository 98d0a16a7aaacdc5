package members

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestFailoverTable(t *testing.T) {
	r := &resource.Rack{Status: resource.RackStatus{Agent: "r1-1", Standby: "r1-2"}}
	doctable.Of(t, "failover.go", "failoverRule").HoldOne(t, [][]string{
		doctable.Words(standbyNone, standbySilent, standbyTooOld, standbyDoubt, standbyReady), doctable.YesNo(), doctable.Words(firstGone, firstHeard, firstSilent), doctable.Words(beatsNone, beatsHeard, beatsStopped),
	}, func(in []string) string {
		v := failoverRule(standbyIs(in[0]), in[1] == "yes", firstIs(in[2]), beatsAre(in[3]))
		err := v.refusal(r, "is in guard mode")
		if (err == nil) != (v == failoverGo) || err != nil && protocol.HintOf(err) == "" {
			t.Errorf("%v: %s is refused with %v", in, v, err)
		}
		if v == failoverGo && in[1] == "no" && (in[2] != "silent" || in[3] != "stopped") {
			t.Errorf("%v: nothing shows that the first one is silent", in)
		}
		return string(v)
	})
}

func TestVacantTable(t *testing.T) {
	doctable.Of(t, "join.go", "vacantRule").HoldOne(t, [][]string{{"agent", "standby"}, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(vacantRule(in[0] == "standby", in[1] == "yes", in[2] == "yes"))
	})
}

func TestBeatsOf(t *testing.T) {
	h := func(segment string, long, ago time.Duration) message.HeardBeat {
		return message.HeardBeat{Segment: segment, For: long, Ago: ago}
	}
	for name, row := range map[string]struct {
		first, second []message.HeardBeat
		want          beatsAre
	}{
		"nothing":                        {nil, nil, beatsNone},
		"stopped":                        {[]message.HeardBeat{h("boot", time.Hour, time.Second)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second)}, beatsStopped},
		"stopped on all of two":          {[]message.HeardBeat{h("boot", time.Hour, 0), h("bmc", time.Hour, 0)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second), h("bmc", time.Hour, 20*time.Second)}, beatsStopped},
		"heard on one of two":            {[]message.HeardBeat{h("boot", time.Hour, 0), h("bmc", time.Hour, 0)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second), h("bmc", time.Hour, 0)}, beatsHeard},
		"heard there a moment only":      {[]message.HeardBeat{h("boot", time.Hour, 0)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second), h("bmc", time.Second, 0)}, beatsHeard},
		"not long enough":                {[]message.HeardBeat{h("boot", time.Hour, 0)}, []message.HeardBeat{h("boot", 50*time.Second, 30*time.Second)}, beatsNone},
		"not long enough at first":       {[]message.HeardBeat{h("boot", 50*time.Second, 0)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second)}, beatsNone},
		"the first never heard it":       {nil, []message.HeardBeat{h("boot", time.Hour, 30*time.Second)}, beatsNone},
		"the first did not hear it then": {[]message.HeardBeat{h("boot", time.Hour, time.Minute)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second)}, beatsNone},
		"another segment":                {[]message.HeardBeat{h("bmc", time.Hour, 0)}, []message.HeardBeat{h("boot", time.Hour, 30*time.Second)}, beatsNone},
		"a moment ago":                   {[]message.HeardBeat{h("boot", time.Hour, 0)}, []message.HeardBeat{h("boot", time.Hour, 9*time.Second)}, beatsHeard},
	} {
		if got := beatsOf(row.first, row.second); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}
