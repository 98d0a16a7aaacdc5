package store

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"rackboot/agent/guard"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state"
)

// guardChange is what writes change of the guard set, as a transaction shows it that has them.
func guardChange(t state.Txn, set guard.Set, writes []write) (c guard.Change, any bool, err error) {
	c = guard.Change{Shared: map[string]json.RawMessage{}, Early: map[string]json.RawMessage{}, Servers: map[string]guard.Server{}, Gone: map[string]bool{}}
	servers := map[string]bool{}
	for _, w := range writes {
		switch server, held := serverOf(w.key, set); {
		case held:
			servers[server] = true
			if id, is := strings.CutPrefix(w.key, keyHolds+server+"/"); is && w.value == nil {
				c.Gone[id] = true
			}
		case w.key == keyIncarnation:
			c.Incarnation = string(w.value)
		case w.key == keyRack:
			turns, stands := false, false
			if c.Shared[w.key], turns, stands, err = guardRack(w.value, set.Shared[w.key]); err != nil {
				return c, false, err
			}
			if c.AtOnce = c.AtOnce || turns; turns && stands {
				c.Early[w.key] = c.Shared[w.key]
			}
		case strings.HasPrefix(w.key, keySecrets), strings.HasPrefix(w.key, keyAccounts):
			_, bmc, _ := strings.Cut(w.key, "/")
			for name, s := range set.Servers {
				servers[name] = servers[name] || s.BMC == bmc
			}
		case strings.HasPrefix(w.key, keyIntents), strings.HasPrefix(w.key, keyRecords), !guarded(w.key):
		default:
			c.Shared[w.key] = w.value
			c.AtOnce = c.AtOnce || w.key == keyEnded || w.key == keyReplaced || w.key == keyStandby || w.key == keyAside
			if w.key == keyStandby && w.value != nil {
				c.Early[w.key] = w.value
			}
		}
	}
	for name, is := range servers {
		if !is {
			continue
		}
		if c.Servers[name], err = guardServer(t, name); err != nil {
			return c, false, err
		}
	}
	return c, c.Incarnation != "" || len(c.Shared) > 0 || len(c.Servers) > 0, nil
}

// serverOf is the held server that a key is of.
func serverOf(key string, set guard.Set) (server string, held bool) {
	if rest, is := strings.CutPrefix(key, keyHolds); is {
		server, _, _ = strings.Cut(rest, "/")
		return server, true
	}
	for _, prefix := range []string{keyIntents, keyRecords} {
		if name, is := strings.CutPrefix(key, prefix); is {
			_, held = set.Servers[name]
			return name, held
		}
	}
	return "", false
}

// guardRack is a rack without what guard mode has no use for: no segment is served in it. It has the rack's times, whether
// the agent stands by in it or took it over, and its other agent, for heartbeats. turns says that the agent's part in the
// rack is another one than in was, the guard set's, and stands that it stands by.
func guardRack(raw, was []byte) (out json.RawMessage, turns, stands bool, err error) {
	before, now := message.RackIntent{}, message.RackIntent{}
	if was != nil {
		if before, err = decode[message.RackIntent](keyRack, was); err != nil {
			return nil, false, false, err
		}
	}
	if raw == nil {
		return nil, before.Standby, false, nil
	}
	if now, err = decode[message.RackIntent](keyRack, raw); err != nil {
		return nil, false, false, err
	}
	now.Segments, now.SafeStop, now.Keep = nil, nil, nil
	out, err = json.Marshal(now)
	return out, before.Standby != now.Standby || !slices.Equal(before.TakenOver, now.TakenOver), now.Standby, err
}

// guardServer is what guarding needs of a server.
func guardServer(t state.Txn, name string) (s guard.Server, err error) {
	s.Holds = map[string]guard.Hold{}
	prefix := keyHolds + name + "/"
	if err := t.Scan(prefix, func(key string, raw []byte) error {
		s.Holds[key[len(prefix):]] = guard.Hold{Value: raw}
		return nil
	}); err != nil || len(s.Holds) == 0 {
		return s, err
	}
	in, named, err := get[Intent](t, keyIntents+name)
	if err != nil {
		return s, err
	}
	if named {
		i := in.ServerIntent
		in.ServerIntent = message.ServerIntent{
			Server: i.Server, UID: i.UID, BMC: i.BMC, SystemURI: i.SystemURI, Segment: i.Segment, BootMAC: i.BootMAC, MACs: i.MACs,
			UUID: i.UUID, Architecture: i.Architecture, Identity: i.Identity, Firmware: i.Firmware,
		}
		if s.Intent, err = json.Marshal(in); err != nil {
			return s, err
		}
		s.BMC = in.BMC.Name
		if s.Secret, _, err = get[json.RawMessage](t, keySecrets+s.BMC); err != nil {
			return s, err
		}
		if s.Account, _, err = get[json.RawMessage](t, keyAccounts+s.BMC); err != nil {
			return s, err
		}
	}
	r, _, err := get[decide.Record](t, keyRecords+name)
	if err != nil {
		return s, err
	}
	s.Proved = slices.Sorted(maps.Keys(r.Holds.Receipts))
	s.Record, err = json.Marshal(decide.Record{Server: name, Identity: r.Identity, Shown: decide.Shown{Power: r.Shown.Power, Epoch: r.Shown.Epoch}})
	return s, err
}

// guardSet is the whole guard set of a store.
func guardSet(t state.Txn) (set guard.Set, err error) {
	id, err := incarnation(t)
	if err != nil {
		return set, err
	}
	set.Incarnations, set.Shared, set.Servers = []string{id}, map[string]json.RawMessage{}, map[string]guard.Server{}
	share := func(key string, raw []byte) error {
		if key == keyRack {
			raw, _, _, err = guardRack(raw, nil)
		}
		set.Shared[key] = raw
		return err
	}
	for _, key := range []string{keyTerm, keyFence, keyEnded, keyReplaced, keyStandby, keyAside, keyPlace, keyRack} {
		raw, found, err := get[json.RawMessage](t, key)
		if err != nil {
			return set, err
		}
		if found {
			if err := share(key, raw); err != nil {
				return set, err
			}
		}
	}
	if err := errors.Join(t.Scan(keyDocuments, share), t.Scan(keyReleased, share)); err != nil {
		return set, err
	}
	holds, err := scan[decide.Hold](t, keyHolds)
	if err != nil {
		return set, err
	}
	for _, h := range holds {
		if _, done := set.Servers[h.Server]; !done {
			if set.Servers[h.Server], err = guardServer(t, h.Server); err != nil {
				return set, err
			}
		}
	}
	return set, nil
}
