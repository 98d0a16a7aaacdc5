package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const lostOne = `,"incomplete":{"message":"m","hint":"h","lost":[{"name":"r9","how":"missing"}]}`

func rackPage(next, rest string, names ...string) func(*http.Request) (*http.Response, error) {
	var items []string
	for _, n := range names {
		items = append(items, `{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"`+n+`"}}`)
	}
	if next != "" {
		rest += `,"next":"` + next + `"`
	}
	return reply(200, "application/json", `{"apiVersion":"rackboot/v1","kind":"RackList","items":[`+strings.Join(items, ",")+`],"revision":7`+rest+`}`)
}

func tablePage(next string, names ...string) func(*http.Request) (*http.Response, error) {
	var rows []string
	for _, n := range names {
		rows = append(rows, `{"ref":{"name":"`+n+`"},"cells":[{"text":"`+n+`"}]}`)
	}
	return reply(200, "application/json", `{"apiVersion":"rackboot/v1","kind":"RackList","items":[],"columns":[{"name":"NAME","description":"Its name."}],"rows":[`+strings.Join(rows, ",")+`],"revision":7,"next":"`+next+`"}`)
}

// told are the pages that come, as the names in them, and how it ends.
func told(ctx context.Context, c *Client, q Query) (pages []string, racks []string, err error) {
	for p, e := range c.Objects.Pages(ctx, resource.KindRack, q) {
		if err = e; e != nil {
			break
		}
		var names []string
		for _, o := range p.Objects {
			names = append(names, o.Head().Metadata.Name)
		}
		for _, r := range p.Rows {
			names = append(names, "row "+r.Cells[0].Text)
		}
		pages, racks = append(pages, strings.Join(names, " ")), append(racks, p.Racks...)
	}
	return pages, racks, err
}

func TestPages(t *testing.T) {
	cut := func(r *http.Request) (*http.Response, error) {
		resp, err := rackPage("", "", "r1", "r2")(r)
		resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, 120), iotest.ErrReader(errors.New("connection reset"))))
		return resp, err
	}
	whole := reply(200, "application/json", `{"apiVersion":"rackboot/v1","kind":"RackList","items":[{"metadata":{"name":"r10"}},{"metadata":{"name":"r2"}}]}`)
	type steps = []func(*http.Request) (*http.Response, error)
	for _, row := range []struct {
		name  string
		query Query
		steps steps
		pages string
		asked string // the queries, in order
		code  protocol.Code
	}{
		{"three pages, one of them empty", Query{}, steps{rackPage("x", "", "r1", "r2"), rackPage("y", ""), rackPage("", "", "r3")}, "r1 r2|r3", "limit=100 after=x&limit=500 after=y&limit=500", ""},
		{"none", Query{}, steps{rackPage("", "")}, "", "limit=100", ""},
		{"no items at all", Query{}, steps{reply(200, "application/json", `{"revision":0}`)}, "", "limit=100", ""},
		{"selected", Query{Selector: "row in (7,8)", Fields: "a!=b", Limit: 3}, steps{rackPage("", "", "r1")}, "r1", "field=a%21%3Db&limit=3&selector=row+in+%287%2C8%29", ""},
		{"of a hub that knows no pages", Query{}, steps{whole}, "r10 r2", "limit=100", ""},
		{"selected, of a hub that knows none", Query{Selector: "a"}, steps{whole}, "", "limit=100&selector=a", protocol.CodeUnsupported},
		{"an older hub takes over", Query{}, steps{rackPage("x", "", "r1"), whole}, "r1", "limit=100 after=x&limit=500", protocol.CodeUnsupported},
		{"an answer breaks off and is asked for again", Query{}, steps{cut, rackPage("", "", "r1", "r2")}, "r1 r2", "limit=100 limit=100", ""},
		{"lost, said by the first page only", Query{}, steps{rackPage("x", lostOne, "r1"), rackPage("", "", "r2")}, "r1|r2", "limit=100 after=x&limit=500", protocol.CodeUnavailable},
		{"the second is refused", Query{}, steps{rackPage("x", "", "r1"), problemReply(ProblemOf(protocol.Errorf(protocol.CodeInvalid, "x", "no").WithHint("h")))}, "r1", "limit=100 after=x&limit=500", protocol.CodeInvalid},
		{"it goes on where it was", Query{}, steps{rackPage("x", "", "r1"), rackPage("x", "", "r1")}, "r1", "limit=100 after=x&limit=500", protocol.CodeInternal},
		{"more racks than items", Query{}, steps{rackPage("", `,"racks":["a","b"]`, "r1")}, "", "limit=100", protocol.CodeInternal},
		{"a table", Query{Table: true, Wide: true}, steps{tablePage("x", "r1", "r2"), tablePage("", "r3")}, "row r1 row r2|row r3", "as=table&limit=100&wide=true after=x&as=table&limit=500&wide=true", ""},
		{"a table, of a hub that knows none", Query{Table: true}, steps{rackPage("x", "", "r1"), rackPage("", "", "r2")}, "r1|r2", "as=table&limit=100 after=x&as=table&limit=500", ""},
		{"an older hub takes over a table", Query{Table: true}, steps{tablePage("x", "r1"), rackPage("", "", "r2")}, "row r1|r2", "as=table&limit=100 after=x&as=table&limit=500", ""},
		{"a row without its cells", Query{Table: true}, steps{reply(200, "application/json", `{"columns":[{"name":"NAME"}],"rows":[{"ref":{"name":"r1"}}],"revision":1}`)}, "", "as=table&limit=100", protocol.CodeInternal},
		{"rows of another form", Query{Table: true}, steps{reply(200, "application/json", `{"rows":{}}`)}, "", "as=table&limit=100", protocol.CodeInternal},
		{"no JSON", Query{}, steps{reply(200, "application/json", `{"items":[{}`)}, "", "limit=100", protocol.CodeInternal},
		{"something else", Query{}, steps{reply(200, "application/json", `[]`)}, "", "limit=100", protocol.CodeInternal},
		{"items of another form", Query{}, steps{reply(200, "application/json", `{"items":{}}`)}, "", "limit=100", protocol.CodeInternal},
		{"something behind it", Query{}, steps{reply(200, "application/json", `{"items":[]} 7`)}, "", "limit=100", protocol.CodeInternal},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, s := client(t, row.steps...)
			pages, _, err := told(t.Context(), c, row.query)
			var asked []string
			for _, r := range s.seen {
				asked = append(asked, r.URL.RawQuery)
			}
			if strings.Join(pages, "|") != row.pages || protocol.CodeOf(err) != row.code || strings.Join(asked, " ") != row.asked {
				t.Errorf("%q, asked %q, %v", pages, asked, err)
			}
		})
	}
}

// A list is the pages together, sorted by the bytes of the names as before, and what was lost comes with
// what is left.
func TestListIsItsPages(t *testing.T) {
	c, _ := client(t, rackPage("x", lostOne, "r1", "r2"), rackPage("", lostOne, "r10"))
	got, err := c.Objects.List(t.Context(), resource.KindRack)
	var names []string
	for _, o := range got {
		names = append(names, o.Head().Metadata.Name)
	}
	lacks, ok := errors.AsType[*IncompleteError](err)
	if fmt.Sprint(names) != "[r1 r10 r2]" || !ok || len(lacks.Incomplete.Lost) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	c, _ = client(t, rackPage("x", "", "r1"), reply(404, "text/html", "x"))
	if got, err := c.Objects.List(t.Context(), resource.KindRack); got != nil || protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("%v, %v", got, err)
	}
}

// Whoever stops early asks for no more, and a page that never comes has its end.
func TestPagesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := client(t, rackPage("x", "", "r1"), hang)
		for range c.Objects.Pages(t.Context(), resource.KindRack, Query{}) {
			break
		}
		if len(s.seen) != 1 {
			t.Errorf("asked %d times", len(s.seen))
		}
		c, _ = client(t, rackPage("x", "", "r1"), hang)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if pages, _, err := told(ctx, c, Query{}); len(pages) != 1 || protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("%q, %v", pages, err)
		}
	})
}

func TestPagesNameRacks(t *testing.T) {
	c, _ := client(t, rackPage("x", `,"racks":["r1",""]`, "r1", "r2"), rackPage("", `,"racks":["r3"]`, "r3"))
	if _, racks, err := told(t.Context(), c, Query{}); err != nil || fmt.Sprintf("%q", racks) != `["r1" "" "r3"]` {
		t.Errorf("%q, %v", racks, err)
	}
}

// Whatever a hub answers, it is refused or it was JSON, and what was read before is not in it.
func FuzzPage(f *testing.F) {
	for _, s := range []string{`{"items":[{"metadata":{"name":"a"}}],"next":"x","revision":1,"racks":["r"]}`, `{"items":null}`, `{"columns":[{"name":"A"}],"rows":[{"ref":{"name":"a"},"cells":[{"number":1,"since":"2026-11-20T09:00:00Z"}]}]}`, `{"items":[null]}`, `{"a":{"items":[]}}`, `{"incomplete":{"lost":[]}}`, `{"items":[`, `[]`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := page{kind: resource.KindServer, objs: []resource.Object{&resource.Server{}}, list: List[struct{}]{Next: "before"}}
		if err := p.read(strings.NewReader(string(raw))); err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Errorf("read %q", raw)
		}
		if p.list.Next == "before" && !strings.Contains(string(raw), "before") {
			t.Error("something is left of the page before")
		}
		for _, o := range p.objs {
			o.Head() // none is nil
		}
	})
}
