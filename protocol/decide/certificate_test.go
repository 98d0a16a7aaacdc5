package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestCertificateTable(t *testing.T) {
	doctable.Of(t, "certificate.go", "certificateRule").Hold(t, [][]string{
		{"yes", "no"}, {string(ageEarly), string(ageFresh), string(ageDue), string(ageLate), string(ageEnded), string(ageLapsed)},
	}, func(in []string) []string {
		return []string{string(certificateRule(in[0] == "yes", age(in[1])))}
	})
}

func TestEndedByTable(t *testing.T) {
	doctable.Of(t, "certificate.go", "EndedBy").Hold(t, [][]string{{"mine", "other"}, {"older", "same", "newer"}, {"known", "other"}}, func(in []string) []string {
		m := message.EndOfTerm{Agent: "r1-1", Term: map[string]uint64{"older": 1, "same": 2, "newer": 3}[in[1]], Code: resource.CondDark}
		if in[0] == "other" {
			m.Agent = "r1-2"
		}
		if in[2] == "known" {
			m.Code = resource.CondRevoked
		}
		return []string{yesNo(EndedBy(m, "r1-1", 2))}
	})
}

// What is done at which part of a certificate's life.
func TestCertificateTimes(t *testing.T) {
	const life = 90 * 24 * time.Hour
	begin := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	day := func(n float64) time.Time { return begin.Add(time.Duration(n * 24 * float64(time.Hour))) }
	for _, c := range []struct {
		name     string
		now      time.Time
		jitter   float64
		want     CertificateAction
		expiring bool
	}{
		{"made by a hub that was ahead", day(-400), 0, CertificateByKey, false},
		{"made by a hub that is a minute ahead", begin.Add(-time.Minute), 0, CertificateKeep, false},
		{"new", day(1), 0, CertificateKeep, false},
		{"just before two thirds", day(59.9), 0, CertificateKeep, false},
		{"two thirds", day(60), 0, CertificateRenew, false},
		{"two thirds, of one that waits", day(63), 0.9, CertificateKeep, false},
		{"the longest wait", day(64.5), 0.999, CertificateRenew, false},
		{"five sixths", day(75), 0, CertificateRenew, true},
		{"its end", day(90), 0, CertificateByKey, true},
		{"the last day of the grace", day(90 + 364), 0, CertificateByKey, true},
		{"after the grace", day(90 + 365), 0, CertificateRejoin, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Certificate(c.now, CertificateSnapshot{NotBefore: begin, NotAfter: begin.Add(life), Jitter: c.jitter})
			if p.Action != c.want || p.Expiring != c.expiring {
				t.Errorf("%+v", p)
			}
		})
	}
}
