package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

// The test's own program is the fleet's process too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fleetArg {
		if serveFleet(os.Stdin, os.Stdout, len(vendors()), 20) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A small run of everything: each server comes to the end, and what is spoilt is
// slow, the others are not.
func TestMeasure(t *testing.T) {
	var out bytes.Buffer
	p := plan{bmcs: len(vendors()), poll: time.Second, interval: 500 * time.Millisecond, besides: time.Second, often: 100 * time.Millisecond, faster: 20}
	if err := measure(t.Context(), &out, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"poll every 500ms", "oldest observation of the 8", "8 came to the end", "with / without"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	t.Log("\n" + out.String())
}

func TestFigure(t *testing.T) {
	var f figure
	for i := range 100 {
		f.add(time.Duration(i+1)*time.Second, nil)
	}
	f.add(0, protocol.Errorf(protocol.CodeTimeout, "x", "late"))
	if f.at(0.5) != 51*time.Second || f.at(0.99) != 100*time.Second || f.at(1) != 100*time.Second {
		t.Errorf("%s %s", f.at(0.5), f.at(0.99))
	}
	if good, bad := f.count(); good != 100 || bad != 1 || !strings.Contains(f.String(), "1 errors map[timeout:1]") {
		t.Errorf("%v", &f)
	}
	if new(figure).at(0.5) != 0 || ratio(1, 0) != 0 || ratio(3, 2) != 1.5 {
		t.Error("nothing measured")
	}
	if u := usageNow(); u.rss == 0 || u.cpu == 0 {
		t.Errorf("usage %+v", u)
	}
}
