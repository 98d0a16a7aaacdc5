package resource

import (
	"fmt"
	"strings"
	"testing"
)

func serviced(change func(*SegmentService)) *Segment {
	s := &Segment{Spec: SegmentSpec{
		RackRef: Ref{Name: "rack-a"}, Prefix: "10.7.0.0/24", Address: "10.7.0.1", Pool: Pool{From: "10.7.0.50", To: "10.7.0.99"},
		Service: &SegmentService{},
	}}
	s.Metadata.Name = "boot-a"
	s.Default()
	change(s.Spec.Service)
	return s
}

// TestSegmentService: what is wrong with a segment's service is named by its path.
func TestSegmentService(t *testing.T) {
	one := Reservation{Address: "10.7.0.9", MAC: "02:00:00:00:00:01"}
	for _, row := range []struct {
		change func(*SegmentService)
		wrong  string // part of the error; empty is right
	}{
		{func(*SegmentService) {}, ""},
		{func(s *SegmentService) { s.Mode = "dhcp" }, "spec.service.mode"},
		{func(s *SegmentService) { s.Mode = ServiceProxy }, ""},
		{func(s *SegmentService) { s.Mode, s.Authoritative = ServiceProxy, true }, "spec.service.authoritative"},
		{func(s *SegmentService) { s.Reservations = []Reservation{one} }, ""},
		{func(s *SegmentService) {
			s.Reservations = []Reservation{one, {Address: "10.7.0.9", Port: "leaf-1/7"}}
		}, "address 10.7.0.9 is also in spec.service.reservations[0]"},
		{func(s *SegmentService) {
			s.Reservations = []Reservation{one, {Address: "10.7.0.8", MAC: "02-00-00-00-00-01"}}
		}, "mac 02:00:00:00:00:01 is also"},
		{func(s *SegmentService) { s.Reservations = []Reservation{{Address: "10.8.0.9", Port: "p"}} }, "not inside"},
		{func(s *SegmentService) { s.Reservations = []Reservation{{Address: "10.7.0.1", Port: "p"}} }, "the agent's own"},
		{func(s *SegmentService) { s.Reservations = []Reservation{{Address: "nine", Port: "p"}} }, "not an IPv4 address"},
		{func(s *SegmentService) { s.Reservations = []Reservation{{Address: "10.7.0.9"}} }, "names no machine"},
		{func(s *SegmentService) { s.Reservations = []Reservation{{Address: "10.7.0.9", MAC: "02:00"}} }, "not a MAC address"},
		{func(s *SegmentService) {
			for i := range maxReservations + 1 {
				s.Reservations = append(s.Reservations, Reservation{Address: fmt.Sprintf("10.7.0.%d", i%250+2), Port: fmt.Sprint(i)})
			}
		}, "split the segment"},
		{func(s *SegmentService) { s.Domain, s.Search = "rack.example", []string{"example", "a.b."} }, ""},
		{func(s *SegmentService) { s.Domain = "rack..example" }, "spec.service.domain"},
		{func(s *SegmentService) { s.Search = []string{"under_score"} }, "spec.service.search"},
		{func(s *SegmentService) { s.NTP = []string{"ntp.example"} }, "spec.service.ntp[0]"},
		{func(s *SegmentService) { s.Routes = []Route{{"10.8.0.0/16", "10.7.0.254"}} }, ""},
		{func(s *SegmentService) { s.Routes = []Route{{"10.8.0.1/16", "10.7.0.254"}} }, "spec.service.routes[0].to"},
		{func(s *SegmentService) { s.Routes = []Route{{"10.8.0.0/16", "10.9.0.1"}} }, "spec.service.routes[0].via"},
	} {
		got := serviced(row.change).Validate()
		if (row.wrong == "") != (len(got) == 0) || !strings.Contains(got.Error(), row.wrong) {
			t.Errorf("want %q, got %v", row.wrong, got)
		}
	}
}
