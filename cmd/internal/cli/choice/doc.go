// Package choice reads which resources somebody means, by names, kinds and selectors as kubectl has
// them, and fetches them from a hub.
package choice
