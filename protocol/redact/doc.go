// Package redact takes out of texts and documents what only their owner may know, before somebody
// sends them to somebody else. It knows forms of secrets, not the secrets: what a person wrote in
// no such form, as in a description, stays. All functions may be used concurrently.
package redact
