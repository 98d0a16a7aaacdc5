package redfish_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

// stream is a BMC with an event stream.
func stream(events http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/":
			fmt.Fprint(w, `{"EventService":{"@odata.id":"/events"}}`)
		case "/events":
			fmt.Fprint(w, `{"ServiceEnabled":true,"ServerSentEventUri":"/sse"}`)
		case "/sse":
			events(w, r)
		default:
			fmt.Fprint(w, offSystem)
		}
	}
}

func TestEvents(t *testing.T) {
	sse := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	tests := []struct {
		name  string
		serve http.HandlerFunc
		wakes int
		want  protocol.Code
		after time.Duration
	}{
		{"events, then the end", func(w http.ResponseWriter, _ *http.Request) {
			sse(w)
			fmt.Fprint(w, ": hello\n\ndata: {}\n\ndata: {}\n\n")
		}, 2, protocol.CodeUnavailable, 0},
		{"silence", func(w http.ResponseWriter, r *http.Request) {
			sse(w)
			fmt.Fprint(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 1, protocol.CodeTimeout, 5 * time.Minute},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, protocol.CodeTimeout, 20 * time.Second},
		{"not a stream", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }, 0, protocol.CodeUnavailable, 0},
		{"a line without an end", func(w http.ResponseWriter, _ *http.Request) {
			sse(w)
			for range 1 << 10 {
				if _, err := fmt.Fprintf(w, "%01024d", 0); err != nil {
					return
				}
			}
		}, 0, protocol.CodeUnavailable, 0},
		{"too many streams", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 0, protocol.CodeUnavailable, 0},
		{"the session ended", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, 0, protocol.CodeUnavailable, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, redfish.Config{RequestTimeout: 20 * time.Second, StreamIdle: 5 * time.Minute}, stream(tt.serve), func(t *testing.T, d bmc.Driver) {
				wakes, begun := 0, time.Now()
				err := d.(bmc.EventSource).Events(t.Context(), func() { wakes++ })
				wantCode(t, err, tt.want)
				if took, want := time.Since(begun), tt.after; took < want || took > want+5*time.Second {
					t.Errorf("it took %s, want %s", took, want)
				}
				if wakes != tt.wakes || protocol.HintOf(err) == "" {
					t.Errorf("%d wakes, hint %q", wakes, protocol.HintOf(err))
				}
			})
		})
	}
}

// Polls go on while a stream is open, and ctx ends it.
func TestPollsBesideAStream(t *testing.T) {
	d := open(t, redfish.Config{}, serve(t, stream(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})))
	ctx, cancel := context.WithCancel(deadline(t))
	woken, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() { ended <- d.(bmc.EventSource).Events(ctx, func() { woken <- struct{}{} }) }()
	<-woken
	observe(t, d)
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

// The streams of simulated BMCs carry power changes.
func TestPresetsStream(t *testing.T) {
	for _, name := range []string{"DellStream", "LenovoStream"} {
		t.Run(name, func(t *testing.T) {
			r := preset(t, name)
			ctx, cancel := context.WithCancel(deadline(t))
			woken, ended := make(chan struct{}, 16), make(chan error, 1)
			go func() { ended <- r.driver.(bmc.EventSource).Events(ctx, func() { woken <- struct{}{} }) }()
			for waiting := true; waiting; { // until the stream is open
				r.reset(t, bmc.ResetOn)
				r.await(t, protocol.PowerOn)
				r.reset(t, bmc.ResetForceOff)
				r.await(t, protocol.PowerOff)
				select {
				case <-woken:
					waiting = false
				case err := <-ended:
					t.Fatal(err)
				default:
				}
			}
			cancel()
			<-ended
		})
	}
	err := preset(t, "NoStream").driver.(bmc.EventSource).Events(deadline(t), func() {})
	wantCode(t, err, protocol.CodeUnsupported)
}
