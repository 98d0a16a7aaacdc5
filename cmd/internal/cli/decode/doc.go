// Package decode is rackctl wire decode: it shows captured messages and checks their signatures,
// without a hub.
package decode
