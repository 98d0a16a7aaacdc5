// Package requests keeps what people ask of agents, a reboot or a power-off: to which database of an agent each was
// given, and how it ended.
//
// What was given stays given: an agent with another database cannot know whether it was done, so that it ends as
// unknown (P9). The first end stays.
package requests
