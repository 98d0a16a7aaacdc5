// Package upgrade has tests of agents that upgrade themselves, as processes: the launcher, agents that are built with two
// versions, and a hub of the test's own, which speaks to them over a real MQTT broker and gives them files by HTTPS.
package upgrade
