// Package broker runs one NATS server inside of the hub, with two doors:
//
//   - an MQTT 3.1.1 listener for agents, with TLS 1.3 and client certificates;
//   - connections within the process, over which the hub keeps its store in
//     JetStream. There is no listener for NATS clients.
//
// The common name of a certificate decides what a connection may do, by default
// nothing. MQTT's / is NATS' . and filters with # need the level above, too:
//
//	agent {id}    publish rb/v1/a/{id}/u/#   subscribe rb/v1/a/{id}/d/# rb/v1/h/#
//	hub identity  publish rb/v1/a/+/d/# rb/v1/h/#   subscribe rb/v1/a/+/u/#
//	in process    everything
//
// A will is published with the same rights as any message.
//
// A certificate has at most four connections, of which the newest stay, and no session that
// outlives its connection.
//
// A store that failed, as on a full disk, is opened again by a new server within the same process,
// on the same address, as soon as the disk can be written; [Broker.Healthy] says meanwhile why not.
//
// The store is synced to disk at each write. What MQTT itself keeps, sessions
// and messages of QoS 1 and 2, is held in memory and bounded, because nothing
// relies on it; retained messages are not kept at all.
package broker
