// Package brokers holds the tests with the real services of a site: the brokers
// Mosquitto, a NATS cluster of three nodes, and the hub's own; and Debian's registry of
// images, with TLS and a login. Each runs the example of configs/brokers, with
// ports and folders filled in, on loopback.
//
//	hub ── proxy ── broker ── proxy ── agent
//
// Hub and agent are the real daemons, the servers are simulated. The proxies stand
// for the network: they cut, refuse, and lead to another node.
package brokers
