package fleet

import (
	"testing"
	"time"
)

// A hub that asks for one Hello after the other is answered at once only so often.
func TestReplies(t *testing.T) {
	now := time.Unix(1000, 0)
	var s session
	s.begin(now)
	said := 0
	for range 100 {
		if due, _ := s.due(now); due {
			said++
		}
		s.reply(now)
	}
	if said != 1+quickReplies {
		t.Errorf("%d Hellos at one moment", said)
	}
	// Nor is it asked for ever at the same pace.
	s, said = session{}, 0
	s.begin(now)
	for at := now; at.Before(now.Add(10 * time.Minute)); at = at.Add(100 * time.Millisecond) {
		if due, _ := s.due(at); due {
			said++
		}
	}
	if said < 10 || said > 50 {
		t.Errorf("%d Hellos in 10 minutes without an answer", said)
	}
}

// Reports gather what is new, and come without it too; what a hold has come to does not wait.
func TestReportPauses(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name  string
		r     reports
		hurry bool
		news  bool
		want  time.Duration
	}{
		{"nothing new", reports{sent: now.Add(-time.Second)}, false, false, 14 * time.Second},
		{"the first", reports{}, false, true, reportDebounce},
		{"soon after another", reports{sent: now.Add(-reportPause / 4)}, false, true, 3 * reportPause / 4},
		{"of a hold", reports{sent: now}, true, true, hurryPause},
	} {
		if c.news {
			c.r.news(now, c.hurry)
		}
		if got := c.r.wait(now, 15*time.Second); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
