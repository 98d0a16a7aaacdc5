// Package agentpackage is rackctl's verbs of packages of agents. Making one needs no hub.
package agentpackage
