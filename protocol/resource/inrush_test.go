package resource

import (
	"testing"
	"time"

	"rackboot/protocol"
)

func TestInrushOfRack(t *testing.T) {
	for name, row := range map[string]struct {
		spec  *InrushSpec
		wrong string // empty: nothing
	}{
		"none":                    {nil, ""},
		"of the rack":             {&InrushSpec{Servers: 3}, ""},
		"of feeds":                {&InrushSpec{FeedLabel: "power/feed", FeedServers: 3, Window: protocol.Duration(5 * time.Minute)}, ""},
		"of both":                 {&InrushSpec{Servers: 3, FeedLabel: "feed", FeedServers: 3}, ""},
		"of nothing":              {&InrushSpec{}, "spec.inrush.servers"},
		"a negative number":       {&InrushSpec{Servers: -1}, "spec.inrush.servers"},
		"too many":                {&InrushSpec{Servers: MaxInrushServers + 1}, "spec.inrush.servers"},
		"a negative number of it": {&InrushSpec{Servers: 3, FeedLabel: "feed", FeedServers: -1}, "spec.inrush.feedServers"},
		"feeds without a label":   {&InrushSpec{FeedServers: 3}, "spec.inrush.feedLabel"},
		"a label without feeds":   {&InrushSpec{Servers: 3, FeedLabel: "feed"}, "spec.inrush.feedServers"},
		"a feed above the rack":   {&InrushSpec{Servers: 3, FeedLabel: "feed", FeedServers: 4}, "spec.inrush.feedServers"},
		"no label key":            {&InrushSpec{FeedLabel: "feed=a", FeedServers: 4}, "spec.inrush.feedLabel"},
		"a short window":          {&InrushSpec{Servers: 3, Window: protocol.Duration(time.Millisecond)}, "spec.inrush.window"},
		"a long window":           {&InrushSpec{Servers: 3, Window: protocol.Duration(time.Hour)}, "spec.inrush.window"},
	} {
		r := Rack{Header: Header{Metadata: Metadata{Name: "r"}}, Spec: RackSpec{Inrush: row.spec}}
		r.Default()
		f := r.Validate()
		if (row.wrong == "") != (len(f) == 0) || row.wrong != "" && f[0].Path != row.wrong {
			t.Errorf("%s: %v", name, f)
		}
		if s := r.Spec.Inrush; s != nil && s.Window == 0 {
			t.Errorf("%s: without its default: %+v", name, s)
		}
	}
}

func TestFeed(t *testing.T) {
	labels := map[string]string{"feed": "a"}
	var none *InrushSpec
	for _, s := range []*InrushSpec{none, {Servers: 1}, {FeedLabel: "row", FeedServers: 1}} {
		if got := s.Feed(labels); got != "" {
			t.Errorf("%+v: %q", s, got)
		}
	}
	if got := (&InrushSpec{FeedLabel: "feed"}).Feed(labels); got != "a" {
		t.Errorf("%q", got)
	}
}
