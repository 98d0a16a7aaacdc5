// Package convert has the verb that turns what other tools know of servers into manifests. It asks no hub.
package convert
