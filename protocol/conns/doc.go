// Package conns bounds the connections of a listener that strangers reach.
package conns
