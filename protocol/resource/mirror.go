package resource

import (
	"time"

	"rackboot/protocol"
)

// MaxMirrorStatus bounds a MirrorStatus as JSON, in bytes: it fits into one answer over the link.
const MaxMirrorStatus = 96 << 10

// maxMirrorWhy bounds a repository's Why, in bytes.
const maxMirrorWhy = 300

// MirrorWhy is what went wrong at a repository, in one line that a terminal prints as it is: a
// part of it may be the repository's own words.
func MirrorWhy(s string) string { return traceText(s, maxMirrorWhy) }

// MaxMirrorWhat bounds what a flush names, in bytes.
const MaxMirrorWhat = 2 << 10

// MirrorStatus is what an agent has of package repositories. Its times are of the agent's clock.
type MirrorStatus struct {
	// Rack and Agent are set by the hub.
	Rack  string    `json:"rack,omitempty"`
	Agent string    `json:"agent,omitempty"`
	At    time.Time `json:"at"`
	// Used is the size of what is kept on disk, of which Pinned belongs to environments and is
	// not removed; Quota bounds it. Bytes.
	Used   int64 `json:"used"`
	Pinned int64 `json:"pinned"`
	Quota  int64 `json:"quota"`
	// Repositories are those of the agent's file.
	Repositories []MirrorRepository `json:"repositories,omitempty"`
	// Left counts the repositories that are not listed, as that would be too long.
	Left int `json:"left,omitempty"`
}

// MirrorAnswers is whether a repository answers.
type MirrorAnswers string

// Whether a repository answers. An agent that has started anew does not know.
const (
	MirrorNotAsked MirrorAnswers = "NotAsked"
	MirrorReached  MirrorAnswers = "Yes"
	MirrorFails    MirrorAnswers = "No"
)

// MirrorRepository is what is cached of one repository, and how its last questions ended. The
// counts are since the start of the agent.
type MirrorRepository struct {
	URL string `json:"url"`
	// Objects and Bytes are what is cached, besides what is pinned. Fresh of them are given
	// without asking; the others are compared first.
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
	Fresh   int   `json:"fresh"`
	// Validated is when the repository said last of one of them that it is what it has, and
	// Oldest the same of the one of which it said so least lately.
	Validated *time.Time `json:"validated,omitempty"`
	Oldest    *time.Time `json:"oldest,omitempty"`
	// Answers is so since Since. Reached is its last answer.
	Answers MirrorAnswers `json:"answers"`
	Since   *time.Time    `json:"since,omitempty"`
	Reached *time.Time    `json:"reached,omitempty"`
	// Failed is its last failure, Code and Why what that was, also after it has answered again.
	Failed *time.Time    `json:"failed,omitempty"`
	Code   protocol.Code `json:"code,omitempty"`
	Why    string        `json:"why,omitempty"`
	// BackedOff is until when it is not asked for what is cached.
	BackedOff *time.Time `json:"backedOff,omitempty"`
	// Served were given from the cache, Stale of them without being compared; Missed were
	// fetched; Absent are not at the repository; Errors could not be had.
	Served int64 `json:"served"`
	Stale  int64 `json:"stale"`
	Missed int64 `json:"missed"`
	Absent int64 `json:"absent"`
	Errors int64 `json:"errors"`
}

// MirrorFlushed is what an agent has dropped of what it had cached.
type MirrorFlushed struct {
	// Rack and Agent are set by the hub.
	Rack  string `json:"rack,omitempty"`
	Agent string `json:"agent,omitempty"`
	// What is the URL or path that was named; empty for all.
	What    string `json:"what,omitempty"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`
	// Kept of Objects stay on the disk until nobody needs them: an environment has them pinned,
	// somebody reads them, or another URL has the same content.
	Kept      int   `json:"kept"`
	KeptBytes int64 `json:"keptBytes"`
}
