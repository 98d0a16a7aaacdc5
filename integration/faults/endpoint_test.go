package faults

import (
	"errors"
	"slices"
	"strings"

	"rackboot/protocol/link"
)

// endpoint is one run of a process, as a network sees it.
type endpoint struct {
	*process
	name      string
	subscribe []string
	up        func() // on each new connection
	receive   func(topic string, payload []byte)
	link      *link.Link // where the network has a broker
}

// network carries messages between hubs and agents, and loses them.
type network interface {
	// attach makes the way in for a process; nothing is carried before connect.
	attach(*endpoint) (publish func(topic string, payload []byte) error)
	connect(*endpoint)
	// cut ends the connections of all processes of a name until heal.
	cut(name string)
	heal(name string)
}

var errDown = errors.New("not connected")

// matches knows the filters that hubs and agents use.
func (e *endpoint) matches(topic string) bool {
	return slices.ContainsFunc(e.subscribe, func(filter string) bool {
		pre, rest, wild := strings.Cut(filter, "+")
		if !wild {
			pre, rest, wild = strings.Cut(filter, "#")
			return topic == filter || wild && rest == "" && strings.HasPrefix(topic, pre)
		}
		if !strings.HasPrefix(topic, pre) {
			return false
		}
		_, after, _ := strings.Cut(strings.TrimPrefix(topic, pre), "/")
		return strings.HasPrefix("/"+after, strings.TrimSuffix(rest, "#"))
	})
}
