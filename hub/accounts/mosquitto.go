package accounts

import (
	"fmt"
	"strings"
)

// Mosquitto is the site as an ACL file of Mosquitto, which knows a certificate by its common name. The store has no part
// in it. It is the same for the same site. Errors: invalid for what the file cannot say exactly.
func Mosquitto(s Site) ([]byte, error) {
	s.Store = nil
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	hub, err := s.Hub.common()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(`# Users of Rackboot by the common names of their certificates. rackboot-hub broker-config
# mosquitto prints it: what is changed here by hand is lost. It is acl_file of mosquitto.conf.
# What no line allows is denied, wills included. Mosquitto grants every subscription and
# judges at delivery.
`)
	topics(&b, hub, Hub())
	for _, name := range names {
		if name == hub { // of a subject with more than it, which NATS tells apart
			return nil, refuse("the hub's certificate has the common name %q, and so has that of an agent", hub)
		}
		r, _ := Agent(name) // names has looked
		topics(&b, name, r)
	}
	return []byte(b.String()), nil
}

func topics(b *strings.Builder, name string, r Rights) {
	fmt.Fprintf(b, "\nuser %s\n", name)
	for _, f := range r.Publish {
		fmt.Fprintf(b, "topic write %s\n", f)
	}
	for _, f := range r.Subscribe {
		fmt.Fprintf(b, "topic read %s\n", f)
	}
}
