// Package packaging tests what a release consists of: packages are installed, upgraded and
// removed in a Debian with nothing in it, the daemons of packages and images are run as
// their units and settings say, and two builds are compared. systemd does not run there: a
// test starts what a unit starts, as the unit's user with its capabilities, and
// not within its sandbox.
package packaging
