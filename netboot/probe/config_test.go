package probe

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		args string
		want string // in the error; empty: taken
		ok   func(Config) bool
	}{
		{"", "", func(c Config) bool { return c.State == "" }},
		{"discover", "", func(c Config) bool { return c.State == protocol.ProbeDiscovered }},
		{"installed --url http://x/b/t/ --inventory", "", func(c Config) bool {
			return c.State == protocol.ProbeInstalled && c.URL == "http://x/b/t/" && c.Inventory
		}},
		{"failed --message=no-disk --deadline 1m", "", func(c Config) bool { return c.Message == "no-disk" && c.Deadline == time.Minute }},
		{"booted --lldp 35s", "", func(c Config) bool { return c.LLDP == 35*time.Second && c.lldpSet }},
		{"discover --lldp 6m", "--lldp", nil},
		{"discover --deadline 0s", "--deadline", nil},
		{"burn", "burn", nil},
		{"installed now", "now", nil},
		{"installed --colour", "colour", nil},
		{"failed --message=" + strings.Repeat("x", protocol.MaxProbeMessage+1), "message", nil},
	} {
		c, err := Parse(strings.Fields(row.args), &bytes.Buffer{})
		switch {
		case row.want == "" && (err != nil || !row.ok(c)):
			t.Errorf("%s: %+v, %v", row.args, c, err)
		case row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%.40s: %v", row.args, err)
		}
	}
	for _, mode := range Modes() {
		if c, err := Parse([]string{mode}, &bytes.Buffer{}); err != nil || c.State == "" {
			t.Errorf("%s, which help names: %+v, %v", mode, c, err)
		}
	}
	var out bytes.Buffer
	if _, err := Parse([]string{"--help"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-message") {
		t.Errorf("help: %v, %s", err, out.String())
	}
}

func TestFill(t *testing.T) {
	given := arguments("rackboot.url=http://k/b/t/ rackboot.ca=/k.pem rackboot.lldp=5s rackboot.mode=booted")
	parsed := func(args ...string) Config {
		c, err := Parse(args, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, row := range []struct {
		name  string
		got   Config
		state protocol.ProbeState
		url   string
		lldp  time.Duration
		inv   bool
	}{
		{"init, nothing given", parsed().fill(nil, true), protocol.ProbeDiscovered, "", lldpTime, true},
		{"init, by the kernel's arguments", parsed().fill(given, true), protocol.ProbeBooted, "", 5 * time.Second, false},
		{"command: the kernel's mode is init's", parsed("installed").fill(given, false), protocol.ProbeInstalled, "", 5 * time.Second, false},
		{"command: flags win", parsed("discover", "--url", "http://f/b/t/", "--lldp", "0s").fill(given, false), protocol.ProbeDiscovered, "http://f/b/t/", 0, true},
		{"a time that is none", parsed().fill(arguments("rackboot.lldp=9h"), true), protocol.ProbeDiscovered, "", lldpTime, true},
	} {
		if row.got.State != row.state || row.got.URL != row.url || row.got.LLDP != row.lldp || row.got.Inventory != row.inv {
			t.Errorf("%s: %+v", row.name, row.got)
		}
	}
}

// TestBaseOf: what came through the BMC is before what was told on the boot segment, and what
// somebody says is before both.
func TestBaseOf(t *testing.T) {
	given := arguments("rackboot.url=http://k/b/t/")
	for _, row := range []struct {
		flag, drive string
		given       map[string]string
		want        string
	}{
		{"http://f/b/t/", "https://d/b/t/", given, "http://f/b/t/"},
		{"", "https://d/b/t/", given, "https://d/b/t/"},
		{"", "", given, "http://k/b/t/"},
		{"", "", nil, ""},
	} {
		if got := baseOf(row.flag, row.drive, row.given); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}
