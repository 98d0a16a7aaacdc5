// Package conns bounds the connections of a listener that strangers reach, and serves HTTPS on it.
package conns
