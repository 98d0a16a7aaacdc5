package members

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	tokenLife       = time.Hour
	certificateLife = 90 * 24 * time.Hour
)

// joinToken is what the store keeps of a token: never the token itself.
type joinToken struct {
	Rack    string    `json:"rack"`
	Expires time.Time `json:"expires"`
	Used    bool      `json:"used,omitempty"`
	Standby bool      `json:"standby,omitempty"`
}

func tokenKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "join-" + hex.EncodeToString(sum[:16])
}

// NewJoinToken makes a token that lets one agent join the rack: to serve it, or to stand by. A rack has one
// of each: while it has one, no other may join.
func (c *Room) NewJoinToken(ctx context.Context, rack string, standby bool) (api.JoinToken, error) {
	r, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
	if err != nil {
		return api.JoinToken{}, err
	}
	if err := c.vacant(r, standby); err != nil {
		return api.JoinToken{}, err
	}
	raw := make([]byte, 24)
	if _, err := io.ReadFull(c.cfg.Random, raw); err != nil {
		return api.JoinToken{}, err
	}
	secret := base64.RawURLEncoding.EncodeToString(raw)
	t := api.JoinToken{Token: secret, Rack: rack, Standby: standby, Expires: c.cfg.Clock().Add(tokenLife)}
	if c.cfg.Fingerprint != "" {
		t.Token += "." + c.cfg.Fingerprint
	}
	kept, err := json.Marshal(joinToken{Rack: rack, Expires: t.Expires, Standby: standby})
	if err != nil {
		return api.JoinToken{}, err
	}
	return t, c.cfg.Meta.Put(ctx, tokenKey(secret), kept, 0)
}

// vacant refuses who wants a place that is taken.
func (c *Room) vacant(r *resource.Rack, standby bool) error {
	const op = "join"
	name := r.Metadata.Name
	switch vacantRule(standby, c.lives(r.Status.Agent), c.lives(r.Status.Standby)) {
	case placeTaken:
		return protocol.Errorf(protocol.CodeConflict, op, "rack %s is served by agent %s", name, r.Status.Agent).
			WithHint("to have another agent serve it: rackctl rack replace-agent %s --reason REASON", name)
	case placeStandbys:
		return protocol.Errorf(protocol.CodeConflict, op, "agent %s stands by for rack %s, and serves it next", r.Status.Standby, name).
			WithHint("rackctl rack failover %s --reason REASON has it serve; or end it first: rackctl rack replace-agent %s --standby --reason REASON", name, name)
	case placeNoAgent:
		return protocol.Errorf(protocol.CodeConflict, op, "rack %s has no agent to stand by for", name).
			WithHint("rackctl rack join-token %s lets one join that serves it", name)
	case placeStandbyTaken:
		return protocol.Errorf(protocol.CodeConflict, op, "agent %s stands by for rack %s", r.Status.Standby, name).
			WithHint("to have another one stand by: rackctl rack replace-agent %s --standby --reason REASON", name)
	case placeFree:
	}
	return nil
}

// lives says whether an agent is named whose term is not over.
func (c *Room) lives(agent string) bool {
	_, over := c.cfg.Terms.EndingOf(agent)
	return agent != "" && !over
}

// place is whether somebody may join.
type place string

const (
	placeFree         place = "free"
	placeTaken        place = "taken"
	placeStandbys     place = "the standby's"
	placeNoAgent      place = "no agent"
	placeStandbyTaken place = "standby taken"
)

// vacantRule says whether an agent may join a rack. The first row that fits decides.
//
//	as      | agent | standby | place
//	agent   | yes   | *       | taken
//	agent   | no    | yes     | the standby's
//	agent   | no    | no      | free
//	standby | no    | *       | no agent
//	standby | yes   | yes     | standby taken
//	standby | yes   | no      | free
//
// Terms of a rack grow: one that joined after a standby would have a higher one than that has, with
// which it could not serve any more.
func vacantRule(standby, agent, second bool) place {
	switch {
	case !standby && agent:
		return placeTaken
	case !standby && second:
		return placeStandbys
	case standby && !agent:
		return placeNoAgent
	case standby && second:
		return placeStandbyTaken
	}
	return placeFree
}

// Join makes an agent of whoever holds a token. The token is spent first, so
// that it serves once even if the hub dies in between.
func (c *Room) Join(ctx context.Context, q api.JoinRequest) (api.JoinAnswer, error) {
	const op = "join"
	denied := protocol.Errorf(protocol.CodeDenied, op, "the token is unknown, used or expired").
		WithHint("rackctl rack join-token RACK prints a new one")
	if err := q.Validate(); err != nil {
		return api.JoinAnswer{}, err
	}
	raw, revision, err := c.cfg.Meta.Get(tokenKey(q.Token))
	if err != nil {
		return api.JoinAnswer{}, denied
	}
	var t joinToken
	if err := json.Unmarshal(raw, &t); err != nil {
		return api.JoinAnswer{}, err
	}
	if t.Used || c.cfg.Clock().After(t.Expires) {
		return api.JoinAnswer{}, denied
	}
	r, err := store.Get[*resource.Rack](c.cfg.Objects, t.Rack)
	if err != nil {
		return api.JoinAnswer{}, err
	}
	if err := c.vacant(r, t.Standby); err != nil {
		return api.JoinAnswer{}, err
	}
	term, at, err := c.cfg.Terms.Next(r)
	if err != nil {
		return api.JoinAnswer{}, err
	}
	name := terms.AgentName(t.Rack, term)
	cert, err := c.cfg.Issuer.IssueAgent(q.CSR, name, c.cfg.CertificateLife)
	if err != nil {
		return api.JoinAnswer{}, err
	}
	t.Used = true
	if raw, err = json.Marshal(t); err != nil {
		return api.JoinAnswer{}, err
	}
	if err := c.cfg.Meta.Put(ctx, tokenKey(q.Token), raw, revision); err != nil {
		return api.JoinAnswer{}, denied
	}
	if err := c.install(ctx, t, name, term, at, q); err != nil {
		return api.JoinAnswer{}, err
	}
	if err := c.certified(ctx, name, func(k *certificate) { *k = c.issued(cert); k.Trust = TrustOf(c.cfg.Standing) }); err != nil {
		return api.JoinAnswer{}, err
	}
	if c.cfg.Cut == nil {
		c.cfg.Logger.Info("an agent has joined; the broker must let it in", "agent", name, "rack", t.Rack,
			"hint", "where its users are written down, rackboot-hub broker-config --check says whether the agent is among them")
	}
	does := "serves"
	if t.Standby {
		does = "stands by for"
	}
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(name), "", resource.EventJoined, fmt.Sprintf("agent %s on %s %s rack %s", name, q.Host, does, t.Rack))
	return api.JoinAnswer{
		Agent: name, Rack: t.Rack, Term: term, Standby: t.Standby, Certificate: cert, CA: c.cfg.CA,
		HubKey: c.cfg.Signer.Public(), Broker: c.cfg.Broker, QoS: c.cfg.QoS,
		DestructiveKey: c.destructiveKey(),
		Standing:       c.cfg.Standing,
	}, nil
}

// install takes the term, writes the agent, then makes it the rack's, or its standby. An agent that a crash left
// without a rack serves nothing, and the rack can be joined again. Of two that join one rack at once
// one gets the term, and the other a conflict.
func (c *Room) install(ctx context.Context, t joinToken, name string, term, revision uint64, q api.JoinRequest) error {
	rack := t.Rack
	if err := c.cfg.Terms.Take(ctx, rack, term, revision); protocol.CodeOf(err) == protocol.CodeConflict {
		return overtaken(rack)
	} else if err != nil {
		return err
	}
	c.cfg.Crash.At("hub.join.term")
	if err := c.inherit(ctx, rack, name, term); err != nil {
		return err
	}
	now := c.cfg.Clock()
	a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: rack}, Key: q.Key, Term: term, SealKey: q.SealKey}}
	a.Metadata = resource.Metadata{Name: name, UID: c.cfg.NewID(), Generation: 1, CreatedAt: &now}
	a.Default()
	if err := c.cfg.Objects.Put(ctx, a); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.join.agent")
	for try := 1; ; try++ {
		r, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
		if err != nil {
			return err
		}
		switch {
		case r.Status.Term >= term, t.Standby && c.vacant(r, true) != nil: // another one took a later term, and has come so far
			return overtaken(rack)
		case t.Standby:
			r.Status.Standby = name
		default:
			r.Status.Agent, r.Status.Term = name, term
			r.Status.AgentKeys = append(r.Status.AgentKeys, q.Key)
		}
		if err = c.cfg.Objects.Put(ctx, r); protocol.CodeOf(err) != protocol.CodeConflict || try == installTries {
			return err // of a conflict: somebody applied the rack meanwhile
		}
	}
}

func overtaken(rack string) error {
	return protocol.Errorf(protocol.CodeConflict, "join", "another agent joined rack %s at this moment", rack).
		WithHint("the token is spent; to have this host serve the rack: rackctl rack replace-agent %s --reason REASON", rack)
}

// installTries bounds how often the rack is written again after somebody else
// wrote it.
const installTries = 8

// inherit begins the agent's ledger where that of the rack's last agent ended: a
// host that joins anew with its old disk has those documents, and takes newer
// ones only.
func (c *Room) inherit(ctx context.Context, rack, name string, term uint64) error {
	l, err := c.cfg.Ledgers.Get(name)
	if err != nil {
		return err
	}
	for t := uint64(1); t < term; t++ {
		old, err := c.cfg.Ledgers.Get(terms.AgentName(rack, t))
		if err != nil {
			return err
		}
		if v := link.Latest(old); v > l.Version {
			l.Version = v
		}
	}
	return c.cfg.Ledgers.Put(ctx, &l)
}

// TrustOf is the digest of what agents are told to trust; empty if there is none.
func TrustOf(s api.Standing) string {
	if len(s.API) == 0 {
		return ""
	}
	return s.Digest()
}

// destructiveKey is what agents that join pin; nil without a key.
func (c *Room) destructiveKey() []byte {
	if c.cfg.Destructive == nil {
		return nil
	}
	return c.cfg.Destructive.Public()
}
