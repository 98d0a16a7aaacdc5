package wire

import (
	"net/netip"
	"reflect"
	"time"
)

// The nouns of version 1, written out as its agents and hubs were built with them,
// so that a test can be yesterday's reader. They are never changed, and stand here
// instead of being made from today's, because a field that is renamed or that gets
// another type by mistake must not change with them. Words such as power states are
// plain text: version 1 passes unknown ones on to its decisions.
type (
	v1Head struct {
		Epoch   uint64 `json:"epoch"`
		Version uint64 `json:"version"`
	}
	v1HoldDoc struct {
		Head     v1Head         `json:"head"`
		Agent    string         `json:"agent"`
		Term     uint64         `json:"term"`
		IssuedAt time.Time      `json:"issuedAt"`
		Holds    []v1ActiveHold `json:"holds,omitempty"`
		Releases []v1Release    `json:"releases,omitempty"`
		Requests []v1Request    `json:"requests,omitempty"`
	}
	v1ActiveHold struct {
		ID          string        `json:"id"`
		Server      string        `json:"server"`
		Key         string        `json:"key"`
		Owner       string        `json:"owner"`
		Mode        string        `json:"mode"`
		SoftTimeout time.Duration `json:"softTimeout,omitempty"`
		Ref         string        `json:"ref,omitempty"`
	}
	v1Release struct {
		HoldID string    `json:"holdId"`
		Server string    `json:"server"`
		By     string    `json:"by"`
		At     time.Time `json:"at"`
	}
	v1Request struct {
		ID           string         `json:"id"`
		Server       string         `json:"server"`
		Action       string         `json:"action"`
		Mode         string         `json:"mode"`
		By           string         `json:"by"`
		NotAfter     time.Time      `json:"notAfter"`
		Precondition v1Precondition `json:"precondition,omitzero"`
	}
	v1Precondition struct {
		Power    string `json:"power,omitempty"`
		ClaimUID string `json:"claimUID,omitempty"`
	}
	v1RackDoc struct {
		Head     v1Head           `json:"head"`
		Agent    string           `json:"agent"`
		Term     uint64           `json:"term"`
		IssuedAt time.Time        `json:"issuedAt"`
		Shard    int              `json:"shard"`
		Shards   int              `json:"shards"`
		Rack     *v1RackIntent    `json:"rack,omitempty"`
		Servers  []v1ServerIntent `json:"servers"`
	}
	v1RackIntent struct {
		Name         string            `json:"name"`
		SoftTimeout  time.Duration     `json:"softTimeout"`
		SettleWindow time.Duration     `json:"settleWindow"`
		PollInterval time.Duration     `json:"pollInterval"`
		Segments     []v1SegmentIntent `json:"segments,omitempty"`
		AgentKeys    [][]byte          `json:"agentKeys,omitempty"`
	}
	v1SegmentIntent struct {
		Name      string        `json:"name"`
		Prefix    netip.Prefix  `json:"prefix"`
		PoolFrom  netip.Addr    `json:"poolFrom"`
		PoolTo    netip.Addr    `json:"poolTo"`
		Address   netip.Addr    `json:"address"`
		Routers   []netip.Addr  `json:"routers,omitempty"`
		DNS       []netip.Addr  `json:"dns,omitempty"`
		BaseURL   string        `json:"baseURL"`
		LeaseTime time.Duration `json:"leaseTime"`
	}
	v1ServerIntent struct {
		Server       string        `json:"server"`
		UID          string        `json:"uid"`
		BMC          v1BMCIntent   `json:"bmc"`
		SystemURI    string        `json:"systemURI,omitempty"`
		Segment      string        `json:"segment"`
		BootMAC      string        `json:"bootMAC"`
		MACs         []string      `json:"macs,omitempty"`
		UUID         string        `json:"uuid,omitempty"`
		Architecture string        `json:"architecture"`
		Claim        string        `json:"claim,omitempty"`
		ClaimUID     string        `json:"claimUID,omitempty"`
		Power        string        `json:"power,omitempty"`
		Releasing    bool          `json:"releasing,omitempty"`
		Boot         *v1BootIntent `json:"boot,omitempty"`
	}
	v1BMCIntent struct {
		Name           string `json:"name"`
		Address        string `json:"address"`
		CredentialsRef string `json:"credentialsRef"`
		Fingerprint    string `json:"fingerprint,omitempty"`
		CA             string `json:"ca,omitempty"`
	}
	v1BootIntent struct {
		Purpose     string       `json:"purpose"`
		Claim       string       `json:"claim"`
		ClaimUID    string       `json:"claimUID"`
		Generation  uint64       `json:"generation"`
		Image       v1Image      `json:"image"`
		Policy      v1BootPolicy `json:"policy"`
		Grant       []byte       `json:"grant,omitempty"`
		Provisioned []byte       `json:"provisioned,omitempty"`
	}
	v1Image struct {
		Reference    string       `json:"reference"`
		Digest       string       `json:"digest"`
		Architecture string       `json:"architecture"`
		Artefacts    []v1Artefact `json:"artefacts"`
	}
	v1Artefact struct {
		Kind      string `json:"kind"`
		Digest    string `json:"digest"`
		Size      int64  `json:"size"`
		MediaType string `json:"mediaType"`
	}
	v1BootPolicy struct {
		FirstBoot string `json:"firstBoot"`
		Boot      string `json:"boot,omitempty"`
	}
)

// The facts of version 1.
type (
	v1Grant struct {
		ClaimUID    string    `json:"claimUID"`
		Generation  uint64    `json:"generation"`
		Server      string    `json:"server"`
		ServerUID   string    `json:"serverUID"`
		ImageDigest string    `json:"imageDigest"`
		FirstBoot   string    `json:"firstBoot"`
		MaxAttempts int       `json:"maxAttempts"`
		IssuedAt    time.Time `json:"issuedAt"`
	}
	v1Provisioned struct {
		ClaimUID    string    `json:"claimUID"`
		Generation  uint64    `json:"generation"`
		Server      string    `json:"server"`
		ServerUID   string    `json:"serverUID"`
		ImageDigest string    `json:"imageDigest"`
		Evidence    string    `json:"evidence"`
		At          time.Time `json:"at"`
		Attempt     string    `json:"attempt"`
	}
	v1Receipt struct {
		HoldID       string        `json:"holdId"`
		Server       string        `json:"server"`
		Agent        string        `json:"agent"`
		Key          string        `json:"key"`
		Ref          string        `json:"ref,omitempty"`
		EnforcedAt   time.Time     `json:"enforcedAt"`
		PowerEpoch   uint64        `json:"powerEpoch"`
		StoppedSince time.Time     `json:"stoppedSince"`
		ConfirmedAt  time.Time     `json:"confirmedAt"`
		Reads        int           `json:"reads"`
		Settle       time.Duration `json:"settle"`
	}
)

// The session of version 1.
type (
	v1Hello struct {
		Agent       string            `json:"agent"`
		Session     string            `json:"session"`
		Incarnation string            `json:"incarnation"`
		Term        uint64            `json:"term"`
		Protocol    int               `json:"protocol"`
		Version     string            `json:"version"`
		Applied     map[string]v1Head `json:"applied"`
		EventHead   uint64            `json:"eventHead"`
		At          time.Time         `json:"at"`
	}
	v1Sync struct {
		Session     string            `json:"session"`
		Protocol    int               `json:"protocol"`
		Heads       map[string]v1Head `json:"heads"`
		EventsAcked uint64            `json:"eventsAcked"`
		At          time.Time         `json:"at"`
		Refused     string            `json:"refused,omitempty"`
	}
	v1Applied struct {
		Doc      string        `json:"doc"`
		Head     v1Head        `json:"head"`
		Digest   string        `json:"digest"`
		Released []string      `json:"released,omitempty"`
		Rejected []v1Rejection `json:"rejected,omitempty"`
		Refused  string        `json:"refused,omitempty"`
	}
	v1Rejection struct {
		Server string `json:"server"`
		Reason string `json:"reason"`
	}
	v1Announce struct {
		Hub   string    `json:"hub"`
		Epoch uint64    `json:"epoch"`
		At    time.Time `json:"at"`
	}
	v1EventBatch struct {
		Agent       string    `json:"agent"`
		Incarnation string    `json:"incarnation"`
		Session     string    `json:"session"`
		Events      []v1Event `json:"events"`
	}
	v1Event struct {
		Seq     uint64    `json:"seq"`
		At      time.Time `json:"at"`
		Server  string    `json:"server,omitempty"`
		Code    string    `json:"code"`
		Message string    `json:"message,omitempty"`
	}
)

// The reports of version 1.
type (
	v1Report struct {
		Agent       string             `json:"agent"`
		Rack        string             `json:"rack"`
		Incarnation string             `json:"incarnation"`
		Session     string             `json:"session"`
		Seq         uint64             `json:"seq"`
		At          time.Time          `json:"at"`
		Version     string             `json:"version"`
		Applied     map[string]v1Head  `json:"applied"`
		Shard       int                `json:"shard"`
		Shards      int                `json:"shards"`
		Servers     []v1ServerReport   `json:"servers"`
		Conditions  []v1ConditionState `json:"conditions,omitempty"`
	}
	v1ServerReport struct {
		Server             string             `json:"server"`
		Observation        v1Observation      `json:"observation"`
		PowerEpoch         uint64             `json:"powerEpoch"`
		StoppedSince       *time.Time         `json:"stoppedSince,omitempty"`
		LastPoweredOn      *time.Time         `json:"lastPoweredOn,omitempty"`
		PendingRebootSince *time.Time         `json:"pendingRebootSince,omitempty"`
		ClaimUID           string             `json:"claimUID,omitempty"`
		ArtefactsLocal     bool               `json:"artefactsLocal,omitempty"`
		Attempt            *v1AttemptReport   `json:"attempt,omitempty"`
		Holds              []v1HoldReport     `json:"holds,omitempty"`
		Requests           []v1RequestReport  `json:"requests,omitempty"`
		Provisioned        []byte             `json:"provisioned,omitempty"`
		Released           bool               `json:"released,omitempty"`
		Conditions         []v1ConditionState `json:"conditions,omitempty"`
	}
	v1HoldReport struct {
		ID         string    `json:"id"`
		Word       string    `json:"word"`
		EnforcedAt time.Time `json:"enforcedAt"`
		Receipt    []byte    `json:"receipt,omitempty"`
	}
	v1RequestReport struct {
		ID      string    `json:"id"`
		Outcome string    `json:"outcome"`
		At      time.Time `json:"at"`
		Reason  string    `json:"reason,omitempty"`
	}
	v1AttemptReport struct {
		ID       string     `json:"id"`
		State    string     `json:"state"`
		Since    time.Time  `json:"since"`
		Number   int        `json:"number"`
		Intended string     `json:"intended"`
		Observed string     `json:"observed,omitempty"`
		Stored   v1Override `json:"stored"`
		Evidence string     `json:"evidence,omitempty"`
		Reason   string     `json:"reason,omitempty"`
		URI      string     `json:"uri,omitempty"`
	}
	v1Observation struct {
		Server        string     `json:"server"`
		ReadAt        time.Time  `json:"readAt"`
		StartedAt     time.Time  `json:"startedAt"`
		Source        string     `json:"source"`
		Power         string     `json:"power"`
		Override      v1Override `json:"override"`
		BootProgress  string     `json:"bootProgress,omitempty"`
		LastResetTime string     `json:"lastResetTime,omitempty"`
		Code          string     `json:"code,omitempty"`
		Error         string     `json:"error,omitempty"`
	}
	v1Override struct {
		Target  string `json:"target,omitempty"`
		Enabled string `json:"enabled,omitempty"`
		Mode    string `json:"mode,omitempty"`
	}
	v1ConditionState struct {
		Code    string    `json:"code"`
		Since   time.Time `json:"since"`
		Message string    `json:"message,omitempty"`
	}
)

// v1Kinds are the messages of version 1 by name.
func v1Kinds() map[string]reflect.Type {
	return map[string]reflect.Type{
		"HoldDoc": reflect.TypeFor[v1HoldDoc](), "RackDoc": reflect.TypeFor[v1RackDoc](), "Sync": reflect.TypeFor[v1Sync](),
		"Announce": reflect.TypeFor[v1Announce](), "Hello": reflect.TypeFor[v1Hello](), "Applied": reflect.TypeFor[v1Applied](),
		"Report": reflect.TypeFor[v1Report](), "EventBatch": reflect.TypeFor[v1EventBatch](), "Grant": reflect.TypeFor[v1Grant](),
		"Provisioned": reflect.TypeFor[v1Provisioned](), "Receipt": reflect.TypeFor[v1Receipt](),
	}
}
