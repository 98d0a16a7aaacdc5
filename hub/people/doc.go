// Package people knows persons by ID tokens of an OpenID provider (OpenID Connect Core 1.0, section 2). It
// verifies a token, and says what the groups of its person may do. For the page it has a person log in there too
// (section 3.1): it makes the question, and trades the answer for an ID token. Nothing is asked of the provider but
// that, its discovery document and its keys, and these only when they are needed and as often as every 10 s; while the
// provider is away the keys that are known go on. It keeps no session, and of secrets only that of the page's client.
package people
