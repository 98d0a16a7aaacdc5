// Package group is rackctl's verbs of groups of servers: their revisions, and the roll-outs that
// bring those to the servers.
package group
