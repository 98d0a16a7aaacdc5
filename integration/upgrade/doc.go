// Package upgrade has tests of agents that upgrade themselves, as processes: the launcher, and agents that are built with two
// versions. Most have a hub of the test's own, which speaks to agents over a real MQTT broker, gives them files by HTTPS and can
// do what no hub does; one has rackboot-hub, with packages that rackctl makes and pushes.
package upgrade
