package resource

import (
	"strings"
	"time"

	"rackboot/protocol"
)

// DefaultInrushWindow is the window of an inrush limit where it is not given, MaxInrushWindow the longest.
const (
	DefaultInrushWindow = 10 * time.Second
	MaxInrushWindow     = 5 * time.Minute
)

// MaxInrushServers is the most that an inrush limit may let be switched on within its window.
const MaxInrushServers = 10_000

// InrushSpec bounds how many servers of a rack its agent switches on within a time, so that what they draw at their start
// does not trip a breaker. Restarts count, and so does an On that is sent again. What comes on by itself when mains power
// returns does not ask the agent.
type InrushSpec struct {
	// Servers is the most servers of the rack that are switched on within the window; 0 does not bound them.
	Servers int `json:"servers,omitempty"`
	// Window is the time within which they are counted. Default 10 s.
	Window protocol.Duration `json:"window,omitempty"`
	// FeedLabel is the key of a label of Servers whose value names the power feed that a server hangs on. A server without
	// it counts for the rack only.
	FeedLabel string `json:"feedLabel,omitempty"`
	// FeedServers is the most servers of one feed that are switched on within the window; 0 does not bound them.
	FeedServers int `json:"feedServers,omitempty"`
}

func (s *InrushSpec) setDefault() {
	if s != nil {
		setDuration(&s.Window, DefaultInrushWindow)
	}
}

func (s *InrushSpec) check(f *fields, path string) {
	if s == nil {
		return
	}
	count := func(at string, n int) {
		if n < 0 || n > MaxInrushServers {
			f.Add(path+at, "is %d; give 1 to %d servers, or leave it out for no bound", n, MaxInrushServers)
		}
	}
	count(".servers", s.Servers)
	count(".feedServers", s.FeedServers)
	f.between(path+".window", s.Window, time.Second, MaxInrushWindow)
	switch {
	case s.FeedServers != 0 && s.FeedLabel == "":
		f.Add(path+".feedLabel", "give the key of the label that names a server's feed: feedServers counts by it")
	case s.FeedServers == 0 && s.FeedLabel != "":
		f.Add(path+".feedServers", "give how many servers of one feed may be switched on within the window: feedLabel alone bounds nothing")
	case s.Servers == 0 && s.FeedServers == 0:
		f.Add(path+".servers", "give servers, or feedLabel and feedServers: without them nothing is bounded")
	case s.Servers > 0 && s.FeedServers > s.Servers:
		f.Add(path+".feedServers", "is %d, and the whole rack may have %d (servers)", s.FeedServers, s.Servers)
	}
	if strings.ContainsAny(s.FeedLabel, " \t\n\r=,") {
		f.Add(path+".feedLabel", "%q is not a label key: white space, = and , are not allowed", s.FeedLabel)
	}
}

// Feed is the power feed that a server with these labels hangs on; empty if that is not known, or not asked for.
func (s *InrushSpec) Feed(labels map[string]string) string {
	if s == nil || s.FeedLabel == "" {
		return ""
	}
	return labels[s.FeedLabel]
}
