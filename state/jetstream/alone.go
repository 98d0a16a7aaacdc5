package jetstream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// # A server that hears no others
//
// A server that is cut off from the others and leads a stream takes itself for the leader for ten seconds (nats-server
// 2.15.2): it takes writes and answers none. The others have elected another one after 4 to 9 s, and who stays with the
// first one hears of nothing for as long as it is cut off. One that is stopped keeps its connections, and one that cannot
// send to the others answers pings for minutes. Who leaves a server without need pays for it: all that is watched is
// watched anew, which takes as long as an election. So a call without an answer has the server asked what it says of
// itself, and whoever keeps the connection is told to take another server.

const (
	// doubtAfter is for how long a call has no answer before its server is looked at: two tries.
	doubtAfter = 2 * lostAfter
	// elected is how long others mostly take to elect a leader. Whose server has let no call succeed for longer is better off
	// with another one, whatever it says.
	elected = 4 * lostAfter
	// selfAnswer is how long a server may take to say something of itself.
	selfAnswer = 500 * time.Millisecond
	// silentFor is for how long a leader has not heard a server that is gone, at least: it hears each once a second.
	silentFor = 3 * time.Second
)

// astray reports whether a call that has had no answer for so long is better made at another server.
//
//	unanswered for elected | for doubtAfter | its server is silent, or leads and hears too few | astray
//	yes                    | *              | *                                                | yes
//	no                     | yes            | yes                                              | yes
//	no                     | *              | *                                                | no
func astray(waited time.Duration, useless func() bool) bool {
	return waited >= elected || waited >= doubtAfter && useless()
}

// useless reports whether the server of the connection answers no ping, or leads the stream, by what it says itself, and hears
// so few of the others that it cannot store anything. Of one that does not lead it says no: that one would ask another. The
// stream is asked for by its name: it may be being opened.
func useless(ctx context.Context, st *stream) bool {
	ping, stop := context.WithTimeout(ctx, selfAnswer)
	defer stop()
	if err := st.cfg.Conn.FlushWithContext(ping); err != nil {
		return ctx.Err() == nil
	}
	ctx, cancel := context.WithTimeout(ctx, selfAnswer)
	defer cancel()
	s, err := st.js.Stream(ctx, st.cfg.Name)
	return err == nil && hearsFew(s.CachedInfo().Cluster, st.cfg.Conn.ConnectedServerName())
}

// hearsFew reports whether a server leads a group of which it hears less than half besides itself.
func hearsFew(group *jetstream.ClusterInfo, server string) bool {
	if group == nil || group.Leader != server {
		return false
	}
	hears := 1
	for _, r := range group.Replicas {
		if !r.Offline && r.Active < silentFor {
			hears++
		}
	}
	return hears <= (len(group.Replicas)+1)/2
}
