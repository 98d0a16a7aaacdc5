package inrush

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Keep is how long a place that was granted is kept for an On that does not come: the BMC takes its time with the
// boot override, or with an image. Others go on then; the server is first in line once it has come so far.
const Keep = time.Minute

// Limit is how many servers may be switched on within a time. The zero Limit has no bounds.
type Limit struct {
	Servers     int // of the rack; 0 has no bound
	FeedServers int // of one power feed; 0 has no bound
	Window      time.Duration
}

// LimitOf is the limit of a rack's document; nil has none.
func LimitOf(in *message.InrushIntent) Limit {
	if in == nil {
		return Limit{}
	}
	return Limit{Servers: in.Servers, FeedServers: in.FeedServers, Window: min(in.Window, resource.MaxInrushWindow)}
}

// Bounds reports whether anything waits for the limit.
func (l Limit) Bounds() bool { return l.Window > 0 && (l.Servers > 0 || l.FeedServers > 0) }

// feed is the feed whose servers are counted together; empty counts for the rack only.
func (l Limit) feed(name string) string {
	if l.FeedServers <= 0 {
		return ""
	}
	return name
}
