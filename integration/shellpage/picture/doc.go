// Package picture draws what a terminal shows, as SVG: its text is text, for readers who search or
// listen, and nothing in it is fetched from elsewhere.
package picture
