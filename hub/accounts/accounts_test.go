package accounts

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/conf"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

var update = flag.Bool("update", false, "write the example anew")

// example is a site of one rack, whose agent has joined, with its store on the same servers.
func example() Site {
	return Site{
		Hub: Common("rackboot.hub"), Agents: []string{"rack-a1-2", "rack-a1-1", "rack-a1-1"},
		Store: Subject{{CommonName, "store.client"}, {"OU", "rackboot-client"}},
	}
}

// The example that users read, and that integration/brokers has a cluster read, is what is printed.
func TestExample(t *testing.T) {
	const path = "../../configs/brokers/rackboot-accounts.conf"
	got, err := NATS(example())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is printed; -update writes it:\n%s", path, got)
	}
}

// The file is included within accounts, also beside others, as the guide says.
func TestIncluded(t *testing.T) {
	dir := t.TempDir()
	raw, err := NATS(example())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"rackboot-accounts.conf": string(raw),
		"alone.conf":             `accounts { include "rackboot-accounts.conf" }`,
		"beside.conf":            `accounts { include "rackboot-accounts.conf", OWN: { users: [] } }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"alone.conf": "RACKBOOT RACKBOOT_STORE", "beside.conf": "OWN RACKBOOT RACKBOOT_STORE"} {
		parsed, err := conf.ParseFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		has, _ := parsed["accounts"].(map[string]any)
		if got := strings.Join(slices.Sorted(maps.Keys(has)), " "); got != want || len(parsed) != 1 {
			t.Errorf("%s has the accounts %q", name, got)
		}
	}
}

func TestMosquitto(t *testing.T) {
	got, err := Mosquitto(example())
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(got), "\n\n") // after the comment
	const want = `user rackboot.hub
topic write rb/v1/a/+/d/#
topic write rb/v1/h/#
topic read rb/v1/a/+/u/#

user rack-a1-1
topic write rb/v1/a/rack-a1-1/u/#
topic read rb/v1/a/rack-a1-1/d/#
topic read rb/v1/h/#

user rack-a1-2
topic write rb/v1/a/rack-a1-2/u/#
topic read rb/v1/a/rack-a1-2/d/#
topic read rb/v1/h/#
`
	if lines != want {
		t.Errorf("%s", got)
	}
}

// The same agents in another order make the same file.
func TestOrderDoesNotCount(t *testing.T) {
	one, other := example(), example()
	slices.Reverse(other.Agents)
	for _, print := range []func(Site) ([]byte, error){NATS, Mosquitto} {
		a, err := print(one)
		b, err2 := print(other)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%v, %v\n%s\n%s", err, err2, a, b)
		}
	}
}

// Each topic of the protocol is one that somebody may publish and somebody else may read, and nobody both.
func TestTopicsAreAllowed(t *testing.T) {
	agent, ok := Agent("rack-1")
	if !ok {
		t.Fatal("rack-1 is no name")
	}
	for topic, row := range map[string]struct{ from, to Rights }{
		message.TopicUp("rack-1", message.LeafHello):  {agent, Hub()},
		message.TopicDown("rack-1", message.LeafHold): {Hub(), agent},
		message.TopicAnnounce:                         {Hub(), agent},
	} {
		s := strings.ReplaceAll(topic, "/", ".")
		if !allows(row.from.PublishSubjects(), s) || !allows(row.to.SubscribeSubjects(), s) {
			t.Errorf("%s does not go from one to the other", topic)
		}
		if allows(row.to.PublishSubjects(), s) || allows(row.from.SubscribeSubjects(), s) {
			t.Errorf("%s goes the other way", topic)
		}
	}
}

// allows matches a subject without wildcards as a server does.
func allows(patterns []string, subject string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		have, want := strings.Split(subject, "."), strings.Split(pattern, ".")
		for i, token := range want {
			switch {
			case token == ">":
				return len(have) > i
			case i >= len(have) || token != "*" && token != have[i]:
				return false
			}
		}
		return len(have) == len(want)
	})
}

// hostile are names that would reach further than their own topics, or out of their quotes or line.
func hostile() []string {
	return []string{
		"", "*", ">", "+", "#", "a.b", "a/b", "a.>", "rack-1.u.>", "rack 1", " rack-1", "rack-1 ", "Rack", "-a", "a-", "a\n", "a\nuser b", "a\r",
		"a\x00", `a"`, `a\`, `a", "b`, `a" } ] } X: { users: [ { user: "b`, "$SYS", "$A", "a,CN=b", "a+CN=b", "a=b", "räck", "rаck-1", "ﬁ", "a b", "a#b",
		"{a}", "%u", "%c", "a'b", "a;b", strings.Repeat("a", 64), "\xff", "\u202ea",
	}
}

func TestHostileNamesAreRefused(t *testing.T) {
	for _, name := range hostile() {
		if r, ok := Agent(name); ok || r.Publish != nil || r.Subscribe != nil {
			t.Errorf("%q has rights: %+v", name, r)
		}
		s := example()
		s.Agents = append(s.Agents, name)
		refused(t, name, s)
	}
}

func TestHostileSubjectsAreRefused(t *testing.T) {
	for _, value := range hostile() {
		switch value {
		case "a.b", "a/b", "rack 1", "a b", "Rack", "-a", "a-", strings.Repeat("a", 64): // plain in a subject
			continue
		}
		hub, store := example(), example()
		hub.Hub = Common(value)
		refused(t, "hub "+value, hub)
		store.Store = Common(value)
		if out, err := NATS(store); protocol.CodeOf(err) != protocol.CodeInvalid || out != nil {
			t.Errorf("store %q: %v\n%s", value, err, out)
		}
	}
	for name, s := range map[string]Site{
		"no subject":              {Agents: []string{"a"}},
		"the hub's is an agent's": {Hub: Common("a"), Agents: []string{"a"}},
		"the store's is an agent's": {
			Hub: Common("rackboot.hub"), Store: Common("a"), Agents: []string{"a"},
		},
		"the store's is the hub's": {Hub: Subject{{"O", "x"}, {CommonName, "a"}}, Store: Subject{{CommonName, "a"}, {"O", "x"}}},
		"an unknown attribute":     {Hub: Subject{{CommonName, "a.hub"}, {"UID", "x"}}},
		"a long value":             {Hub: Common(strings.Repeat("a", 65))},
		"many attributes":          {Hub: slices.Repeat(Common("a.hub"), 17)},
	} {
		if out, err := NATS(s); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || out != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for name, s := range map[string]Site{
		"two common names":     {Hub: Subject{{CommonName, "a.hub"}, {CommonName, "b.hub"}}},
		"no common name":       {Hub: Subject{{"O", "x"}}},
		"an agent's with more": {Hub: Subject{{CommonName, "a"}, {"O", "x"}}, Agents: []string{"a"}},
	} {
		if _, err := NATS(s); err != nil {
			t.Errorf("%s: NATS tells it apart, and it is refused: %v", name, err)
		}
		if out, err := Mosquitto(s); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || out != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func refused(t *testing.T, what string, s Site) {
	t.Helper()
	for _, print := range []func(Site) ([]byte, error){NATS, Mosquitto} {
		if out, err := print(s); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || out != nil {
			t.Errorf("%q: %v\n%s", what, err, out)
		}
	}
}

// FuzzSite: whatever the names are, either they are refused, or the server's own parser reads exactly them and their
// rights out of the file, and a reader of lines the same out of Mosquitto's.
func FuzzSite(f *testing.F) {
	for _, name := range hostile() {
		f.Add("rackboot.hub", name, "store.client", "OU", "x")
		f.Add(name, "rack-1", "store.client", "OU", "x")
		f.Add("rackboot.hub", "rack-1", name, "OU", name)
		f.Add("rackboot.hub", "rack-1", "store.client", name, "x")
	}
	f.Fuzz(func(t *testing.T, hub, agent, store, kind, value string) {
		s := Site{Hub: Common(hub), Agents: []string{agent, "rack-z-1"}, Store: Subject{{CommonName, store}, {kind, value}}}
		want := map[string][3]string{}
		put := func(account, user, connection string, r Rights) {
			want[account+" "+user] = [3]string{connection, strings.Join(r.PublishSubjects(), " "), strings.Join(r.SubscribeSubjects(), " ")}
		}
		put("RACKBOOT", "CN="+hub, overMQTT, Hub())
		for _, name := range s.Agents {
			r, ok := Agent(name)
			if !ok {
				refused(t, name, s)
				return
			}
			put("RACKBOOT", "CN="+name, overMQTT, r)
			if other := "another-1"; name != other {
				for _, topic := range []string{message.TopicUp(other, "x"), message.TopicDown(other, "x")} {
					if subject := strings.ReplaceAll(topic, "/", "."); allows(r.PublishSubjects(), subject) || allows(r.SubscribeSubjects(), subject) {
						t.Errorf("%q reaches %s", name, topic)
					}
				}
			}
		}
		put("RACKBOOT_STORE", "CN="+store+","+kind+"="+value, overNATS, Rights{})
		if raw, err := NATS(s); err == nil {
			if got := readNATS(t, raw); !same(got, want) {
				t.Errorf("read as %q, want %q\n%s", got, want, raw)
			}
		}
		if raw, err := Mosquitto(s); err == nil {
			if got, want := readMosquitto(t, raw), 1+len(slices.Compact(slices.Sorted(slices.Values(s.Agents)))); len(got) != want || got[hub] != 3 || got[agent] != 3 {
				t.Errorf("read as %v\n%s", got, raw)
			}
		}
	})
}

func same(a, b map[string][3]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// readNATS has the server's parser read the accounts: their users with kind of connection and permissions.
func readNATS(t *testing.T, raw []byte) map[string][3]string {
	t.Helper()
	parsed, err := conf.Parse(string(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	join := func(v any) string {
		var out []string
		for _, e := range v.([]any) {
			out = append(out, e.(string))
		}
		return strings.Join(out, " ")
	}
	out := map[string][3]string{}
	for account, v := range parsed {
		for _, u := range v.(map[string]any)["users"].([]any) {
			u := u.(map[string]any)
			row := [3]string{join(u["allowed_connection_types"])}
			if p, has := u["permissions"].(map[string]any); has {
				row[1], row[2] = join(p["publish"].(map[string]any)["allow"]), join(p["subscribe"].(map[string]any)["allow"])
			}
			out[account+" "+u["user"].(string)] = row
		}
	}
	return out
}

// readMosquitto counts the lines of topics of each user, as Mosquitto reads a file: by its lines.
func readMosquitto(t *testing.T, raw []byte) map[string]int {
	t.Helper()
	out, user := map[string]int{}, ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if name, is := strings.CutPrefix(line, "user "); is {
			if _, twice := out[name]; twice {
				t.Errorf("%q is there twice\n%s", name, raw)
			}
			user, out[name] = name, 0
			continue
		}
		if strings.HasPrefix(line, "topic read rb/v1/") || strings.HasPrefix(line, "topic write rb/v1/") {
			out[user]++
		} else if line != "" && !strings.HasPrefix(line, "# ") {
			t.Errorf("a line %q", line)
		}
	}
	return out
}
