package message

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestSplitTopic(t *testing.T) {
	for _, row := range []struct {
		topic, agent, direction, leaf string
		source                        string
	}{
		{TopicDown("rack-1", LeafHold), "rack-1", "d", "hold", "table of topics"},
		{TopicDown("rack-1", RackLeaf(12)), "rack-1", "d", "rack/12", "table of topics"},
		{TopicUp("rack-1", LeafHello), "rack-1", "u", "hello", "table of topics"},
		{"rb/v1/a/rack-1/u/future/x", "rack-1", "u", "future/x", "a leaf of a later version is still the agent's"},
		{"rb/v1/a/x/d/1/2", "x", "d", "1/2", "6 slashes"},
		{"rb/v1/a/x/d/1/2/3", "x", "d", "1/2/3", "7 slashes"},
		{"rb/v1/a/x/d/1/2/3/4", "", "", "", "8 slashes: AWS IoT Core takes 7"},

		{TopicAnnounce, "", "", "", "is no agent's"},
		{"", "", "", "", "MQTT 3.1.1 §4.7.3: at least one character"},
		{"/rb/v1/a/x/u/hello", "", "", "", "MQTT 3.1.1 §4.7.1.1: a leading slash is a level"},
		{"rb/v1/a/x/u/hello/", "", "", "", "a trailing slash is a level too"},
		{"rb/v1/a/x/u//hello", "", "", "", "an empty level"},
		{"rb/v1/a//u/hello", "", "", "", "an empty agent"},
		{"rb/v1/a/x/u/", "", "", "", "an empty leaf"},
		{"rb/v1/a/x/u", "", "", "", "no leaf"},
		{"rb/v1/a/x", "", "", "", "no direction"},
		{"rb/v1/a/x/up/hello", "", "", "", "another direction"},
		{"rb/v2/a/x/u/hello", "", "", "", "another root"},
		{"RB/v1/a/x/u/hello", "", "", "", "MQTT 3.1.1 §4.7.3: case sensitive"},
		{"rb/v1/a/+/u/hello", "", "", "", "MQTT 3.1.1 §3.3.2.1: no wildcards in a topic name"},
		{"rb/v1/a/x/u/#", "", "", "", "the same"},
		{"rb/v1/a/x/u/he+llo", "", "", "", "the same, inside of a level"},
		{"rb/v1/a/x/u/he\x00llo", "", "", "", "MQTT 3.1.1 §1.5.3: no U+0000"},
		{"rb/v1/a/x/u/he\x1bllo", "", "", "", "MQTT 3.1.1 §1.5.3: control characters"},
		{"rb/v1/a/x/u/he\x7fllo", "", "", "", "the same; NATS refuses it"},
		{"rb/v1/a/x/u/\u0085", "", "", "", "the same, U+0080 to U+009F"},
		{"rb/v1/a/x/u/\xff", "", "", "", "MQTT 3.1.1 §1.5.3: well-formed UTF-8"},
		{"rb/v1/a/x/u/hel lo", "", "", "", "NATS refuses white space"},
		{"rb/v1/a/x/u/hel.lo", "", "", "", "a NATS gateway turns a dot into a level"},
		{"rb/v1/a/x/u/>", "", "", "", "a NATS wildcard"},
		{"rb/v1/a/x/u/*", "", "", "", "a NATS wildcard"},
		{"rb/v1/a/x/u/$SYS", "", "", "", "MQTT 3.1.1 §4.7.2: $ is the server's"},
		{"rb/v1/a/X/u/hello", "", "", "", "ValidName: lower case"},
		{"rb/v1/a/-x/u/hello", "", "", "", "ValidName: begins with a letter or digit"},
		{"rb/v1/a/x.y/u/hello", "", "", "", "ValidName: no dot"},
		{"rb/v1/a/" + strings.Repeat("x", 63) + "/u/hello", strings.Repeat("x", 63), "u", "hello", "ValidName: 63"},
		{"rb/v1/a/" + strings.Repeat("x", 64) + "/u/hello", "", "", "", "ValidName: 64"},
	} {
		agent, direction, leaf, ok := SplitTopic(row.topic)
		if agent != row.agent || direction != row.direction || leaf != row.leaf || ok != (row.agent != "") {
			t.Errorf("%q (%s): %q %q %q %v", row.topic, row.source, agent, direction, leaf, ok)
		}
	}
}

func TestParseLeaf(t *testing.T) {
	for _, row := range []struct {
		leaf, name string
		shard      int
	}{
		{"hold", LeafHold, 0},
		{"sync", LeafSync, 0},
		{"hello", LeafHello, 0},
		{"applied", LeafApplied, 0},
		{"report", LeafReport, 0},
		{"event", LeafEvent, 0},
		{"rack/0", LeafRack, 0},
		{"rack/10", LeafRack, 10},
		{"rack/2147483647", LeafRack, 1<<31 - 1},
		{"rack/2147483648", "", 0},
		{"rack/99999999999999999999", "", 0},
		{"rack", "", 0},
		{"rack/", "", 0},
		{"rack/00", "", 0},
		{"rack/01", "", 0},
		{"rack/+1", "", 0},
		{"rack/-0", "", 0},
		{"rack/1_0", "", 0},
		{"rack/0x1", "", 0},
		{"rack/1/2", "", 0},
		{"rack/ 1", "", 0},
		{"rack/\u0661", "", 0}, // a digit, and not ASCII
		{"hold/0", "", 0},
		{"Hold", "", 0},
		{"", "", 0},
	} {
		name, shard, ok := ParseLeaf(row.leaf)
		if name != row.name || shard != row.shard || ok != (row.name != "") {
			t.Errorf("%q: %q %d %v", row.leaf, name, shard, ok)
		}
	}
}

// FuzzTopic holds that what is taken apart is what was put together, and is one
// agent's only.
func FuzzTopic(f *testing.F) {
	for _, topic := range []string{
		TopicDown("rack-1", LeafHold), TopicDown("rack-1", RackLeaf(0)), TopicUp("r", LeafReport), TopicAnnounce, TopicAllUp,
		"rb/v1/a/x/u/", "rb/v1/a/x/d/rack/007", "rb/v1/a/x/u/\x00", "rb/v1/a/x/u/\xff", "//////////",
	} {
		f.Add(topic)
	}
	f.Fuzz(func(t *testing.T, topic string) {
		agent, direction, leaf, ok := SplitTopic(topic)
		if !ok {
			if agent != "" || direction != "" || leaf != "" {
				t.Fatalf("%q: %q %q %q", topic, agent, direction, leaf)
			}
			return
		}
		again := TopicUp(agent, leaf)
		if direction == "d" {
			again = TopicDown(agent, leaf)
		}
		if again != topic || !protocol.ValidName(agent) || strings.ContainsAny(topic, "+#\x00 ") || strings.Contains(topic, "//") {
			t.Fatalf("%q: %q %q %q", topic, agent, direction, leaf)
		}
		if name, shard, ok := ParseLeaf(leaf); ok && name != leaf && RackLeaf(shard) != leaf {
			t.Fatalf("%q: %q %d", leaf, name, shard)
		}
	})
}
