// Package pending does things that may fail for a while: one at a time of whatever is asked
// for it, each again after a pause that doubles, until it is done or dropped. The agent fetches boot
// files by it, the hub resolves images.
package pending
