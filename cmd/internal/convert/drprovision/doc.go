// Package drprovision converts content of dr-provision: boot environments, templates, params and profiles of a
// bundle as drpcli contents writes it, and machines as drpcli machines list does. Rackboot's boot environments
// have dr-provision's fields with a small first letter, so that these are taken nearly whole.
package drprovision
