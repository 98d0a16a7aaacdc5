// Package web serves the page for operators beside the hub's API, on the same listener.
//
// The page is files in the program: it is made of what the API answers, and does what the API allows its
// reader. What the package adds are sessions, for browsers: who gives a token once gets a cookie, and each
// request with it reaches the API as one with that token. So the API judges, counts and records it as any
// other, and a token that counts no more counts no more here either.
//
// See docs/adr/0190-the-page-asks-the-api-as-its-reader.md, and SECURITY.md for what a session is worth to somebody who steals it.
package web
