// Package page has tests of the hub's page in a real browser, Debian's Chromium: at a hub, an agent and simulated
// servers as separate programs, and before a fleet of 50,000 servers.
//
// Pictures of what was seen are kept where RACKBOOT_PAGE_PICTURES names a folder, else among the artefacts of the test.
package page
