// Package shards tries what agents tell of their servers against what the hub makes of it, over a link that loses,
// repeats and overtakes.
package shards
