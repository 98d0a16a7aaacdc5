package message

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Hello is what an agent says first on a connection, and again whenever what it
// has and what the hub believes may differ.
type Hello struct {
	Agent       string                   `json:"agent"`
	Session     string                   `json:"session"` // random, new for each connection
	Incarnation string                   `json:"incarnation"`
	Term        uint64                   `json:"term"`
	Protocol    int                      `json:"protocol"`
	Version     string                   `json:"version"`
	Applied     map[string]protocol.Head `json:"applied"`
	// EventHead is the number of the last event of the incarnation; until the hub has
	// answered this start of the agent, that of the last before the first start since
	// it had answered. EventTail is that of the oldest which is not acknowledged. 0
	// where there is none.
	EventHead uint64    `json:"eventHead"`
	EventTail uint64    `json:"eventTail,omitempty"`
	At        time.Time `json:"at"`
	// Nonce is the last that the hub gave, in an Announce or a Sync. It proves that
	// the Hello is not an old one which somebody plays back.
	Nonce string `json:"nonce,omitempty"`
	// Digests are of the signed bytes of the applied documents, by leaf.
	Digests map[string]string `json:"digests,omitempty"`
	// Fence is the highest that the agent has followed.
	Fence Fence `json:"fence,omitzero"`
	// Capabilities are what the agent can do.
	Capabilities []Capability `json:"capabilities,omitempty"`
	// Approvals is what the agent wants approvals for; absent from agents without
	// CapApproval.
	Approvals *resource.ApprovalStance `json:"approvals,omitempty"`
	// SealKey is the agent's X25519 public key, for which secrets are sealed; absent
	// from agents that cannot open any.
	SealKey []byte `json:"sealKey,omitempty"`
	// Run is a random id of the agent's process: two that speak in turn are two agents of one disk.
	Run string `json:"run,omitempty"`
	// Guard says that the agent has no store that it can write to. What the Hello says of
	// applied documents, digests and events is not judged then.
	Guard bool `json:"guard,omitempty"`
	// Self is what an agent that stands aside made up when it first heard that its disk was copied;
	// see Copied.
	Self string `json:"self,omitempty"`
	// StoreHead is that of the agent's store; until the hub has answered this start of the agent, as
	// it was before the first start since it had answered. Zero in guard mode.
	StoreHead StoreHead `json:"storeHead,omitzero"`
	// HubHead is the last sealed HubHead that the agent was told and has kept.
	HubHead []byte `json:"hubHead,omitempty"`
	// Host and Addresses are where the agent runs, for people.
	Host      string   `json:"host,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// Sync says what the agent should have: the answer to a Hello and to events, and
// every [SyncEvery] without being asked. It is the proof that the hub is there and
// that nothing is withheld.
type Sync struct {
	Session  string                   `json:"session"`
	Protocol int                      `json:"protocol"`
	Heads    map[string]protocol.Head `json:"heads"`
	// EventsAcked is the last event that the hub has filed of the incarnation.
	EventsAcked uint64    `json:"eventsAcked"`
	At          time.Time `json:"at"` // hub clock
	// Refused says why the hub does not serve this agent; empty if it does.
	Refused resource.ConditionCode `json:"refused,omitempty"`
	// Ended is a sealed EndOfTerm, where the agent's term was ended; Refused says so too.
	Ended []byte `json:"ended,omitempty"`
	// Trust is the digest of what the agent should trust and dial; see Renewal. One that
	// has another asks the hub where it stands.
	Trust string `json:"trust,omitempty"`
	// Nonce goes back in every Hello, Applied and Report of the session.
	Nonce string `json:"nonce,omitempty"`
	// Digests are of the signed bytes of the documents in Heads.
	Digests map[string]string `json:"digests,omitempty"`
	// Reported is, by shard, the Seq of the last Report of the session with Servers that the hub
	// has; 0 for none. A Sync without Heads says nothing of reports.
	Reported []uint64 `json:"reported,omitempty"`
	// Epoch and Fence are the hub's.
	Epoch uint64 `json:"epoch"`
	Fence Fence  `json:"fence"`
	// ValidFor is how long after At the agent may take the hub's word for fresh.
	ValidFor time.Duration `json:"validFor,omitempty"`
	// Again asks for a Hello with Nonce: the hub does not conclude anything from one
	// that may be old.
	Again bool `json:"again,omitempty"`
	// Renew is an incarnation that has less than the hub was told of: its disk was rolled back. The
	// agent that has it has lost its store, and guards until somebody has accepted that; what it goes
	// on with has a new incarnation.
	Renew string `json:"renew,omitempty"`
	// Had is, with Renew, the sequence of that store which the hub was told of; 0 if none was said.
	Had uint64 `json:"had,omitempty"`
	// HubHead is a sealed HubHead: what the hub's store has, or has had within the last minute. Only a
	// Sync with Heads has one.
	HubHead []byte `json:"hubHead,omitempty"`
	// Copied says that two agents of one disk were heard; nil is not.
	Copied *Copied `json:"copied,omitempty"`
}

// Copied is the hub's word that two agents of one disk spoke. Each of them stands aside from then on: it
// guards holds, and does nothing else, until somebody has said which goes on. The word counts whichever
// session it comes in, and for the incarnations that it names only.
type Copied struct {
	// Incarnations are those that more than one agent had.
	Incarnations []string `json:"incarnations"`
	// Kept is the agent that goes on; nil while nobody has said.
	Kept *Kept `json:"kept,omitempty"`
}

// Kept is the one of two agents that goes on.
type Kept struct {
	// Self is its word in Hello; every other one is superseded.
	Self string `json:"self"`
	// Incarnation is the one that it takes.
	Incarnation string `json:"incarnation"`
}

// How often a hub says a Sync by itself, and how long each is valid. Losing one in
// ten changes nothing; a broker that withholds them is seen within SyncValid.
const (
	SyncEvery = time.Minute
	SyncValid = 10 * time.Minute
)

// Fence orders the hubs of one store and its copies: every start of a hub takes the
// next number. An agent follows the highest that it has heard of and refuses the
// rest, so that of two hubs at once one is heeded.
type Fence struct {
	Number uint64 `json:"number"`
	Hub    string `json:"hub"` // random, new for each start
}

// Newer says whether f comes after o.
func (f Fence) Newer(o Fence) bool { return f.Number > o.Number }

// Rivals says whether two different hubs have taken the same number, which only a
// copy of a store can do.
func (f Fence) Rivals(o Fence) bool { return f.Number == o.Number && f.Hub != o.Hub }

// Applied acknowledges a document after it was fsynced with its mark.
type Applied struct {
	Doc  string        `json:"doc"` // the topic's leaf: hold, rack/0
	Head protocol.Head `json:"head"`
	// Digest is of the document's signed bytes.
	Digest string `json:"digest"`
	// Released lists the holds of the document's releases that no longer lie.
	Released []string `json:"released,omitempty"`
	// Rejected lists servers whose entry was refused alone; the old one stays.
	Rejected []Rejection `json:"rejected,omitempty"`
	// Refused says why the whole document was refused.
	Refused string `json:"refused,omitempty"`
	Nonce   string `json:"nonce,omitempty"` // of the session's Sync
	// Fence is the highest that the agent has followed.
	Fence Fence `json:"fence,omitzero"`
	// StoreHead is that of the agent's store, which has the document.
	StoreHead StoreHead `json:"storeHead,omitzero"`
}

// Rejection is one entry that was refused.
type Rejection struct {
	Server string `json:"server"`
	Reason string `json:"reason"`
}

// Announce tells agents that a hub has started; they answer with a Hello.
type Announce struct {
	Hub   string    `json:"hub"` // random, new for each start
	Epoch uint64    `json:"epoch"`
	At    time.Time `json:"at"`
	Nonce string    `json:"nonce"` // goes back in the Hello
	Fence Fence     `json:"fence"`
	// Spread is the time over which the answers of all agents are to be spread.
	Spread time.Duration `json:"spread,omitempty"`
}

// EventBatch is a run of events. The agent keeps events until they are
// acknowledged in a Sync.
type EventBatch struct {
	Agent       string           `json:"agent"`
	Incarnation string           `json:"incarnation"`
	Session     string           `json:"session"`
	Events      []resource.Event `json:"events"`
	// StoreHead is that of the agent's store, which has the events.
	StoreHead StoreHead `json:"storeHead,omitzero"`
}
