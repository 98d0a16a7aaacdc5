// Package reports keeps in memory what the agents said last of their servers. A hub that starts asks for
// it again; nothing durable is built on it.
package reports
