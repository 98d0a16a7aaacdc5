// Package demo has the manifests of the demo, so that rackboot-sim shows it in any folder.
package demo
