// Package identity is an OpenID provider for tests: zitadel's, with its example store, on loopback with TLS.
// Tests log in at it as a browser does, change its users and keys, and have it go away.
package identity
