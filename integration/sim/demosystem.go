package sim

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
)

// systems are what images do that are no installers, by the digest of what boots.
type systems struct {
	mu       sync.Mutex
	byDigest map[string]system
}

// system is what runs on a server that booted it from the network; it returns its report.
type system func(*Server) protocol.ProbeReport

func (s *systems) add(digest string, is system) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDigest == nil {
		s.byDigest = map[string]system{}
	}
	s.byDigest[digest] = is
}

// run runs what the server booted; what nobody has added is an installer.
func (s *systems) run(v *Server) protocol.ProbeReport {
	s.mu.Lock()
	is := s.byDigest[v.Boots.Digest()]
	s.mu.Unlock()
	if is == nil {
		return protocol.ProbeReport{State: protocol.ProbeInstalled}
	}
	return is(v)
}

// live installs nothing and stays up.
func live(*Server) protocol.ProbeReport { return protocol.ProbeReport{State: protocol.ProbeBooted} }

// permitTimeout bounds the question of discards.
const permitTimeout = 10 * time.Second

// discards asks for the agent's word, as rackboot-probe does, and discards the disk only
// with it.
func discards(v *Server) protocol.ProbeReport {
	if err := permitted(v); err != nil {
		return protocol.ProbeReport{State: protocol.ProbeFailed, Message: err.Error()}
	}
	v.Disk.Install("")
	return protocol.ProbeReport{State: protocol.ProbeBooted, Message: "vda discarded"}
}

func permitted(v *Server) error {
	base, _ := v.Boots.Installing()
	c := http.Client{Timeout: permitTimeout}
	resp, err := c.Get(base + protocol.FileDiscard)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	said, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || strings.TrimSpace(string(said)) != "all" {
		return fmt.Errorf("the agent does not confirm it: %s", resp.Status)
	}
	return nil
}
