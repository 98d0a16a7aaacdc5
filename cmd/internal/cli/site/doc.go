// Package site is rackctl's verbs of what a site has: racks with their agents, BMCs, servers, the
// files of a first rack, and whether an upgrade may begin.
package site
