package decide

import (
	"testing"
	"time"

	"rackboot/doctable"
	"rackboot/protocol"
)

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestCertificateTable(t *testing.T) {
	doctable.Of(t, "certificate.go", "certificateRule").Hold(t, [][]string{
		{"yes", "no"}, {string(ageFresh), string(ageDue), string(ageLate), string(ageEnded), string(ageLapsed)},
	}, func(in []string) []string {
		return []string{string(certificateRule(in[0] == "yes", age(in[1])))}
	})
}

func TestEndedByTable(t *testing.T) {
	doctable.Of(t, "certificate.go", "EndedBy").Hold(t, [][]string{{"mine", "other"}, {"older", "same", "newer"}, {"known", "other"}}, func(in []string) []string {
		m := protocol.EndOfTerm{Agent: "r1-1", Term: map[string]uint64{"older": 1, "same": 2, "newer": 3}[in[1]], Code: protocol.CondDark}
		if in[0] == "other" {
			m.Agent = "r1-2"
		}
		if in[2] == "known" {
			m.Code = protocol.CondRevoked
		}
		return []string{yesNo(EndedBy(m, "r1-1", 2))}
	})
}

// A clock that is behind the floor makes nothing valid that has ended, and keeps
// nothing from being renewed.
func TestCertificateTimes(t *testing.T) {
	const life = 90 * 24 * time.Hour
	begin := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	day := func(n float64) time.Time { return begin.Add(time.Duration(n * 24 * float64(time.Hour))) }
	for _, c := range []struct {
		name             string
		clock, floor     time.Time
		jitter           float64
		want             CertificateAction
		behind, expiring bool
	}{
		{"new", day(1), time.Time{}, 0, CertificateKeep, false, false},
		{"just before two thirds", day(59.9), time.Time{}, 0, CertificateKeep, false, false},
		{"two thirds", day(60), time.Time{}, 0, CertificateRenew, false, false},
		{"two thirds, of one that waits", day(63), time.Time{}, 0.9, CertificateKeep, false, false},
		{"the longest wait", day(64.5), time.Time{}, 0.999, CertificateRenew, false, false},
		{"five sixths", day(75), time.Time{}, 0, CertificateRenew, false, true},
		{"its end", day(90), time.Time{}, 0, CertificateByKey, false, true},
		{"the last day of the grace", day(90 + 364), time.Time{}, 0, CertificateByKey, false, true},
		{"after the grace", day(90 + 365), time.Time{}, 0, CertificateRejoin, false, true},
		{"no battery: 1970, floor unknown", time.Unix(0, 0), time.Time{}, 0, CertificateKeep, true, false},
		{"no battery: 1970, and it had ended", time.Unix(0, 0), day(91), 0, CertificateByKey, true, true},
		{"behind by a day, due by the floor", day(59.5), day(60.5), 0, CertificateRenew, true, false},
		{"a minute behind is no news", day(1), day(1).Add(time.Minute), 0, CertificateKeep, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Certificate(c.clock, CertificateSnapshot{NotBefore: begin, NotAfter: begin.Add(life), Floor: c.floor, Jitter: c.jitter})
			if p.Action != c.want || p.Behind != c.behind || p.Expiring != c.expiring {
				t.Errorf("%+v", p)
			}
			if p.Now.Before(c.floor) || p.Now.Before(c.clock) {
				t.Errorf("believes %s", p.Now)
			}
		})
	}
}
