// Package apitest runs the hub's API in a test: the real store and handlers
// over TLS on loopback, on an in-memory key-value store and a fleet that the
// test scripts.
package apitest
