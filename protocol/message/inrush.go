package message

import (
	"time"

	"rackboot/protocol/resource"
)

// InrushIntent is a rack's InrushSpec as it travels to an agent. Which feed a server hangs on is in [ServerIntent].
type InrushIntent struct {
	Servers     int           `json:"servers,omitempty"`
	FeedServers int           `json:"feedServers,omitempty"`
	Window      time.Duration `json:"window"`
}

// InrushOf is a rack's spec as it travels; nil of nil.
func InrushOf(s *resource.InrushSpec) *InrushIntent {
	if s == nil {
		return nil
	}
	return &InrushIntent{Servers: s.Servers, FeedServers: s.FeedServers, Window: s.Window.D()}
}
