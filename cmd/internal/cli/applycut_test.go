package cli

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// cutter is in front of a hub, and cuts connections: each of some of them after so many bytes of answers.
type cutter struct {
	net.Listener
	to    string
	cuts  atomic.Int64
	after []int64 // bytes of answers of the connections, in their order; the next ones are whole
	wg    sync.WaitGroup

	mu   sync.Mutex
	open []net.Conn
	over bool
}

// end closes everything, and waits for it.
func (c *cutter) end() {
	c.Close()
	c.mu.Lock()
	c.over = true
	for _, conn := range c.open {
		conn.Close()
	}
	c.mu.Unlock()
	c.wg.Wait()
}

func (c *cutter) serve() {
	for n := 0; ; n++ {
		in, err := c.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		if err != nil {
			in.Close()
			continue
		}
		c.mu.Lock()
		c.open = append(c.open, in, out)
		over := c.over
		c.mu.Unlock()
		if over {
			in.Close()
			out.Close()
		}
		c.wg.Go(func() {
			io.Copy(out, in) //nolint:errcheck // it is cut
			out.Close()
		})
		c.wg.Go(func() {
			if n < len(c.after) {
				io.CopyN(in, out, c.after[n]) //nolint:errcheck // it is cut
				c.cuts.Add(1)
			} else {
				io.Copy(in, out) //nolint:errcheck // it ends
			}
			in.Close()
			out.Close()
		})
	}
}

// Wherever answers are cut off, all is applied, and each result says what was really done.
func TestApplyOverCutConnections(t *testing.T) {
	h := apitest.New(t)
	at, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// The handshake has some 1,500 bytes, an answer about 500 resources some 40,000.
	c := &cutter{Listener: l, to: at.Host, after: []int64{500, 100_000, 130_000, 20_000, 2_000, 60_000, 3_000}}
	c.wg.Go(c.serve)
	t.Cleanup(c.end)
	direct := h.URL
	h.URL = "https://" + l.Addr().String()
	env := configured(t, h, apitest.Token)
	h.URL = direct
	var out, errs bytes.Buffer
	code := Run(t.Context(), Config{Args: []string{"apply", "-f", "-"}, Out: &out, Err: &errs, In: strings.NewReader(large(fleetText(800))), Getenv: env})
	if code != 0 || strings.Count(out.String(), " created\n") != 1602 || !strings.Contains(errs.String(), "1602 resources: 1602 created") || len(store.Copies[*resource.Server](h.Store.Objects)) != 800 {
		t.Errorf("exit %d\n%s", code, errs.String())
	}
	if n := c.cuts.Load(); n < int64(len(c.after)) {
		t.Errorf("%d connections were cut", n)
	}
}
