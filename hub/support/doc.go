// Package support is what a hub tells of itself to whoever is to help: its file, its last log lines and its
// metrics, without secrets. It knows no other room.
package support
