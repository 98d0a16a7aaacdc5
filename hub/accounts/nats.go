package accounts

import (
	"fmt"
	"strings"
)

// The kinds of connections that a NATS user may be limited to (nats-server v2.15.2, jwt.ConnectionType…).
const (
	overMQTT = "MQTT"
	overNATS = "STANDARD"
)

// NATS is the site as accounts of a nats-server, to be included within the accounts of its file. It is the same for the
// same site. Errors: invalid for what the file cannot say exactly.
func NATS(s Site) ([]byte, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(`# Users of Rackboot by the subjects of their certificates. rackboot-hub broker-config nats
# prints it: what is changed here by hand is lost. In the file of each nats-server:
#
#   accounts { include "rackboot-accounts.conf" }

# Messages between hub and agents. What MQTT keeps may fill neither memory nor disk.
RACKBOOT: {
  jetstream: { max_mem: 128MB, max_file: 1GB }
  users: [
`)
	user(&b, s.Hub.String(), Hub())
	for _, name := range names {
		r, _ := Agent(name) // names has looked
		user(&b, Common(name).String(), r)
	}
	b.WriteString("  ]\n}\n")
	if s.Store != nil {
		fmt.Fprintf(&b, `
# The hub's store. Nothing goes from one account to the other.
RACKBOOT_STORE: {
  jetstream: enabled
  users: [
    { user: %s, allowed_connection_types: [%s] }
  ]
}
`, quoted(s.Store.String()), quoted(overNATS))
	}
	return []byte(b.String()), nil
}

func user(b *strings.Builder, name string, r Rights) {
	fmt.Fprintf(b, `    {
      user: %s
      allowed_connection_types: [%s]
      permissions: {
        publish: { allow: [%s] }
        subscribe: { allow: [%s] }
      }
    }
`, quoted(name), quoted(overMQTT), quoted(r.PublishSubjects()...), quoted(r.SubscribeSubjects()...))
}

// quoted puts texts between quotes. They hold only what is plain, so that nothing needs to be escaped.
func quoted(texts ...string) string { return `"` + strings.Join(texts, `", "`) + `"` }
