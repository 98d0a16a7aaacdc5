// Package people knows persons by ID tokens of an OpenID provider (OpenID Connect Core 1.0, section 2). It
// verifies a token, and says what the groups of its person may do. Nothing is asked of the provider but its
// discovery document and its keys, and that only when they are needed and as often as every 10 s; while the
// provider is away the keys that are known go on. It keeps no session, and no secret.
package people
