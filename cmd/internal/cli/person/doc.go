// Package person logs a person in at an OpenID provider: by a browser on this host, with the authorization code flow,
// PKCE and a redirect to loopback (RFC 8252, RFC 7636), or by a code that is typed in anywhere (RFC 8628). It keeps
// nothing, and gives back tokens.
package person
