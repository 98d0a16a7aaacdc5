// Package agent puts the rooms of an agent together: the loops of servers around package
// decide (agent/server), and the boot servers that answer from the same state (agent/boot). It
// puts in force what the hub says, and is what people see at the agent's socket.
//
// Goroutines, all ended by the context given to Run:
//
//	server loop      one per server; owns the server's BMC driver; see agent/server
//	link             one MQTT connection; hands messages to Receive
//	greeter          says Hello when it is due, and looks at the hub's time and freshness; see agent/link
//	reports          reports by shard, debounced and bounded, and event batches; see agent/reports
//	files            bring what servers boot from; see agent/files
//	dhcp, http, tftp one server of each per local segment; see agent/boot
package agent
