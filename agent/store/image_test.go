package store

import (
	"testing"
	"time"

	"rackboot/protocol"
)

func TestImageReport(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	if r, err := s.Images.Report("n1"); r != nil || err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	want := protocol.ImageReport{State: protocol.ProbeFailed, Message: "no disk", At: time.Unix(1, 0).UTC()}
	if err := s.Images.PutReport("n1", want); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Images.Report("n1"); err != nil || r == nil || !r.Says(want) || !r.At.Equal(want.At) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := s.Images.Report("n10"); r != nil || err != nil {
		t.Errorf("another server: %+v, %v", r, err)
	}
}
