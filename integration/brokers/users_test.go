package brokers

import (
	"bytes"
	"os"
	"syscall"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
)

// written is a file in which a broker reads who may do what.
type written struct {
	kind    hubdaemon.BrokerKind // empty: nothing is written down
	file    string
	servers []*server // which read it
	log     string    // a line of theirs when they have
}

// users are those that rackboot-hub broker-config prints.
func (s *site) users(kind hubdaemon.BrokerKind, first bool) []byte {
	s.t.Helper()
	c := s.hub
	if c.Broker.URL == "" { // the broker is not there yet
		c.Broker.URL = "mqtts://127.0.0.1:8883"
	}
	users, err := hubdaemon.BrokerUsers(s.t.Context(), c, kind, first)
	if err != nil {
		s.t.Fatal(err)
	}
	return users
}

// follow does what a timer of a user's does: it looks whether the file is right, and where it is not, has the broker
// read another one.
func (s *site) follow() {
	s.t.Helper()
	w := s.broker.written
	if w.kind == "" {
		return
	}
	users := s.users(w.kind, false)
	err := hubdaemon.CheckBrokerUsers(w.file, users)
	if err == nil {
		return
	}
	if protocol.CodeOf(err) != protocol.CodeConflict {
		s.t.Fatal(err)
	}
	s.write(w.file, string(users))
	if err := hubdaemon.CheckBrokerUsers(w.file, users); err != nil {
		s.t.Fatal(err)
	}
	for _, sv := range w.servers {
		before := sv.says(w.log)
		if err := sv.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			s.t.Fatal(err)
		}
		s.until(sv.name+" reads its users anew", func() bool { return sv.says(w.log) > before }, func() any { return "none" })
	}
}

// says counts a text in what a server has logged.
func (s *server) says(text string) int {
	s.t.Helper()
	said, err := os.ReadFile(s.log())
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.Count(said, []byte(text))
}
