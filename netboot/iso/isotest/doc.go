// Package isotest makes CD images for tests of what reads them. Nothing on them runs.
package isotest
