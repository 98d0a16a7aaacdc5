package wire

import (
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pageFields are the rows of the tables of fields, as "Hello.agent" with "text, always".
func pageFields(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for section := range strings.SplitSeq(page(t, "reference/messages.md"), "\n## ") {
		name, body, _ := strings.Cut(section, "\n")
		for line := range strings.SplitSeq(body, "\n") {
			if !strings.HasPrefix(line, "| `") {
				continue
			}
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(cells) != 4 || cells[2] == "" || cells[3] == "" {
				t.Fatalf("%s: %q is not field, CBOR, meaning, absent means", name, line)
			}
			key := name + "." + strings.Trim(cells[0], "`")
			if rows[key] != "" {
				t.Errorf("%s is in the page twice", key)
			}
			rows[key] = describe(cells[1], cells[3] != "—")
		}
	}
	return rows
}

func describe(cbor string, may bool) string {
	if may {
		return cbor + ", may be absent"
	}
	return cbor + ", always"
}

// Every field of every message is in docs/reference/messages.md with its type and what its absence
// means; and no other is.
func TestPageHasEveryField(t *testing.T) {
	rows, want := pageFields(t), map[string]string{}
	for _, k := range Kinds() {
		fieldsOf(reflect.TypeOf(k.New()), func(owner reflect.Type, f field) {
			want[owner.Name()+"."+f.name] = describe(f.cbor, f.may)
		})
	}
	for name, says := range want {
		if rows[name] != says {
			t.Errorf("%s is %s; the page says %q", name, says, rows[name])
		}
	}
	for name := range rows {
		if want[name] == "" {
			t.Errorf("%s is in the page and in no message", name)
		}
	}
	if len(want) < 200 {
		t.Errorf("%d fields found", len(want))
	}
}

// Each kind of message has its topic in one of the pages.
func TestPageHasEveryTopic(t *testing.T) {
	text := page(t, "PROTOCOL.md") + page(t, "reference/messages.md")
	for _, k := range Kinds() {
		topic := k.Topic
		switch {
		case k.Name == "RackDoc":
			topic = "rb/v1/a/{agent}/d/rack/{shard}"
		case topic == "":
			topic = fmt.Sprintf("rb/v1/a/{agent}/%s/%s", k.Direction, k.Leaf)
		}
		if !strings.Contains(text, "`"+topic+"`") {
			t.Errorf("%s travels on %s", k.Name, topic)
		}
	}
}

// The example that is taken apart in the page is a vector.
func TestPageExample(t *testing.T) {
	_, text, found := strings.Cut(page(t, "PROTOCOL.md"), "byte by byte:\n\n```\n")
	if !found {
		t.Fatal("no example")
	}
	text, _, _ = strings.Cut(text, "```")
	var digits strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		digits.WriteString(regexp.MustCompile(`^ *([0-9a-f]*)`).FindStringSubmatch(line)[1])
	}
	if want := hex.EncodeToString(readVector(t, "v1", "sync-again")); digits.String() != want {
		t.Errorf("the page has %s\nthe vector is %s", digits.String(), want)
	}
}
