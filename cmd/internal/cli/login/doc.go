// Package login is rackctl's verbs of the hubs that it knows, and who it is there.
package login
