package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// bulkHub has servers n1 to n4, of which the odd ones are in row 7.
func bulkHub(t *testing.T) *apitest.Hub {
	t.Helper()
	h := apitest.New(t)
	objs := []resource.Object{storetest.Rack("r1"), storetest.Segment("boot", "r1")}
	for i := 1; i <= 4; i++ {
		bmc := storetest.BMC(fmt.Sprintf("b%d", i), "r1")
		srv := storetest.Server(fmt.Sprintf("n%d", i), bmc.Metadata.Name, "boot", fmt.Sprintf("02:00:00:00:00:%02x", i))
		if i%2 == 1 {
			srv.Metadata.Labels = map[string]string{"row": "7"}
		}
		objs = append(objs, bmc, srv)
	}
	if _, err := h.Store.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	return h
}

// ended waits until a bulk operation has ended.
func ended(t *testing.T, c *protoapi.Client, id string) protoapi.BulkStatus {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		b, err := c.Bulks.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if b.EndedAt != nil {
			return b
		}
		if time.Now().After(end) {
			t.Fatalf("it does not end: %+v", b)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func holdAll(key string) protoapi.BulkRequest {
	return protoapi.BulkRequest{Action: protoapi.BulkHold, Hold: &protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopSoft}}}
}

func TestBulkHoldAndRelease(t *testing.T) {
	h := bulkHub(t)
	c := h.ClientOf(t, apitest.TokenOf("fencer"))
	req := holdAll("k")
	req.Selector = "row=7"
	b, err := c.Bulks.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if b = ended(t, c, b.ID); b.State != protoapi.BulkDone || b.Done != 2 || b.By != "fencer" {
		t.Fatalf("%+v", b)
	}
	holds, err := protoapi.GetAll[*resource.Hold](t.Context(), c)
	if err != nil || len(holds) != 2 {
		t.Fatalf("%d holds, %v", len(holds), err)
	}
	var ids []string
	for _, hold := range holds {
		if hold.Spec.Owner != "fencer" || hold.Spec.Key != "k" {
			t.Errorf("%+v", hold.Spec)
		}
		ids = append(ids, hold.Metadata.Name)
	}
	b, err = c.Bulks.Create(t.Context(), protoapi.BulkRequest{Action: protoapi.BulkRelease, Names: ids})
	if err != nil {
		t.Fatal(err)
	}
	if b = ended(t, c, b.ID); b.Done != 2 {
		t.Errorf("%+v", b)
	}
	var noted []string
	for _, e := range h.Records.Entries() {
		if e.Caller == "fencer" {
			noted = append(noted, e.Op+" "+e.Target+" "+e.From)
		}
	}
	if all := strings.Join(noted, "\n"); !strings.Contains(all, "hold Server/n1 bulk/") {
		t.Errorf("the audit log has\n%s", all)
	}
	if _, err := h.ClientOf(t, apitest.TokenOf("operator")).Bulks.Get(t.Context(), b.ID); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := h.ClientOf(t, apitest.TokenOf("row7")).Bulks.Cancel(t.Context(), b.ID); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a stranger cancels: %v", err)
	}
	if late, err := c.Bulks.Cancel(t.Context(), b.ID); err != nil || late.State != protoapi.BulkDone || late.CancelledBy != "" {
		t.Errorf("cancelled after its end: %+v, %v", late, err)
	}
	if list, err := h.Client(t).Bulks.List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("an admin sees %+v, %v", list, err)
	}
}

// What one of them refuses is its failure, with the words of the request for one.
func TestBulkItemIsRefused(t *testing.T) {
	h := bulkHub(t)
	c := h.Client(t)
	b, err := c.Bulks.Create(t.Context(), protoapi.BulkRequest{Action: protoapi.BulkReboot, Names: []string{"n1", "n2", "none"}, Request: &protoapi.RebootRequest{}})
	if err != nil {
		t.Fatal(err)
	}
	b = ended(t, c, b.ID)
	if b.Failed != 3 || b.Results[0].Code != protocol.CodeConflict || !strings.Contains(b.Results[0].Message, "has no claim") || b.Results[2].Code != protocol.CodeNotFound {
		t.Errorf("%+v", b)
	}
	b, err = c.Bulks.Create(t.Context(), protoapi.BulkRequest{Action: protoapi.BulkPowerOff, Names: []string{"n1", "n2"}, Request: &protoapi.RebootRequest{Mode: resource.StopHard}})
	if err != nil {
		t.Fatal(err)
	}
	b = ended(t, c, b.ID)
	all, err := c.Requests.List(t.Context(), "")
	if err != nil || b.Done != 2 || len(all) != 2 || all[0].Ref != "bulk/"+b.ID || all[0].Action != resource.RequestPowerOff || all[0].Mode != resource.StopHard {
		t.Errorf("%+v: %+v, %v", b, all, err)
	}
}

func TestBulkIsRefusedAsAWhole(t *testing.T) {
	h := bulkHub(t)
	many := holdAll("k")
	for i := range protoapi.MaxBulkNames + 1 {
		many.Names = append(many.Names, fmt.Sprintf("n%d", i))
	}
	names := func(r protoapi.BulkRequest, names ...string) protoapi.BulkRequest { r.Names = names; return r }
	wide, both := names(holdAll("k"), "n1"), names(holdAll("k"), "n1")
	wide.Parallel, both.Selector = 51, "row=7"
	nowhere := holdAll("k")
	nowhere.Selector = "row=99"
	for name, row := range map[string]struct {
		who  string
		req  protoapi.BulkRequest
		code protocol.Code
		says string
	}{
		"too many":           {"fencer", many, protocol.CodeInvalid, "10001"},
		"no right":           {"viewer", names(holdAll("k"), "n1"), protocol.CodeDenied, "request"},
		"outside the scope":  {"row7", names(holdAll("k"), "n1", "n2"), protocol.CodeDenied, "n2"},
		"no key":             {"fencer", names(holdAll(""), "n1"), protocol.CodeInvalid, "hold.key"},
		"names and selector": {"fencer", both, protocol.CodeInvalid, "one of both"},
		"too wide":           {"fencer", wide, protocol.CodeInvalid, "parallel"},
		"nothing":            {"fencer", nowhere, protocol.CodeNotFound, "nothing is selected"},
		"no action":          {"fencer", protoapi.BulkRequest{Names: []string{"n1"}}, protocol.CodeInvalid, "action"},
		"a ref of ours":      {"fencer", protoapi.BulkRequest{Action: protoapi.BulkReboot, Names: []string{"n1"}, Request: &protoapi.RebootRequest{Ref: "bulk/x"}}, protocol.CodeInvalid, "request.ref"},
	} {
		_, err := h.ClientOf(t, apitest.TokenOf(row.who)).Bulks.Create(t.Context(), row.req)
		if protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := h.Store.Requests.Bulks.List(); len(left) != 0 {
		t.Errorf("%d are kept", len(left))
	}
	inside := names(holdAll("k"), "n1", "n3")
	c := h.ClientOf(t, apitest.TokenOf("row7"))
	b, err := c.Bulks.Create(t.Context(), inside)
	if err != nil {
		t.Fatal(err)
	}
	if b = ended(t, c, b.ID); b.Done != 2 {
		t.Errorf("%+v", b)
	}
}
