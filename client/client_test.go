package client_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/client"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// clientOf is a client of a hub with a token.
func clientOf(t *testing.T, hub *apitest.Hub, token string) *client.ClientWithResponses {
	t.Helper()
	c, err := client.New(client.Config{URL: hub.URL, CA: hub.CA, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// applied is a hub to which the client has applied two servers.
func applied(t *testing.T) (*apitest.Hub, *client.ClientWithResponses) {
	t.Helper()
	hub := apitest.New(t)
	c := clientOf(t, hub, apitest.Token)
	var objects []any
	for _, o := range storetest.Site() {
		objects = append(objects, o)
	}
	got, err := c.ApplyWithResponse(t.Context(), nil, client.ApplyRequest{Objects: objects})
	if err != nil || len(got.JSON200.Results) != len(objects) {
		t.Fatalf("%v, %+v", err, got)
	}
	return hub, c
}

func TestListGetAndPut(t *testing.T) {
	hub, c := applied(t)
	hub.Fleet.SetServer("n1", resource.ServerStatus{Phase: resource.PhaseReserved, ReadAt: new(apitest.Now())})
	list, err := c.ListServerWithResponse(t.Context(), nil)
	if err != nil || len(list.JSON200.Items) != 2 || list.JSON200.Items[0].Status.Phase != "Reserved" || !list.JSON200.Items[0].Status.ReadAt.Equal(apitest.Now()) {
		t.Fatalf("%v, %+v", err, list)
	}
	// In pages, the second one by what the first one names.
	page, err := c.ListServerWithResponse(t.Context(), &client.ListServerParams{Limit: new(int64(1))})
	if err != nil || len(page.JSON200.Items) != 1 || page.JSON200.Next == "" {
		t.Fatalf("%v, %+v", err, page)
	}
	page, err = c.ListServerWithResponse(t.Context(), &client.ListServerParams{Limit: new(int64(1)), After: &page.JSON200.Next})
	if err != nil || len(page.JSON200.Items) != 1 || page.JSON200.Items[0].Metadata.Name != "n2" || page.JSON200.Next != "" {
		t.Fatalf("%v, %+v", err, page)
	}
	one, err := c.GetServerWithResponse(t.Context(), "n2")
	if err != nil || one.JSON200.Metadata.Name != "n2" || one.JSON200.Spec.SegmentRef.Name != "boot" || one.HTTPResponse.Header.Get("ETag") == "" {
		t.Fatalf("%v, %+v", err, one)
	}
	// What was read is written again, changed.
	changed := *one.JSON200
	changed.Status, changed.Spec.KernelArgs = nil, "console=ttyS1"
	etag := one.HTTPResponse.Header.Get("ETag")
	if _, err := c.PutServerWithResponse(t.Context(), "n2", &client.PutServerParams{IfMatch: &etag}, changed); err != nil {
		t.Fatal(err)
	}
	if stored, err := hub.Store.Objects.Get(resource.KindServer, "n2"); err != nil || stored.(*resource.Server).Spec.KernelArgs != "console=ttyS1" {
		t.Errorf("%v, %+v", err, stored)
	}
	// And by somebody who has not seen that not once more.
	_, err = c.PutServerWithResponse(t.Context(), "n2", &client.PutServerParams{IfMatch: &etag}, changed)
	if p := client.ProblemOf(err); p == nil || p.Code != string(protocol.CodeConflict) {
		t.Errorf("%v", err)
	}
}

// A hold is placed once however often it is asked for, its receipt is read, and it is released.
func TestHoldAndReceipt(t *testing.T) {
	hub, c := applied(t)
	ask := client.HoldRequest{Key: "node-1", Mode: "hard", Reason: "replaced"}
	first, err := c.HoldWithResponse(t.Context(), "n1", nil, ask)
	if err != nil {
		t.Fatal(err)
	}
	id := first.JSON200.Metadata.Name
	if again, err := c.HoldWithResponse(t.Context(), "n1", nil, ask); err != nil || again.JSON200.Metadata.Name != id {
		t.Errorf("%v, %+v", err, again)
	}
	before, err := c.GetHoldWithResponse(t.Context(), id)
	if err != nil || before.JSON200.Status.Receipt != nil || before.JSON200.Status.Word != "Accepted" {
		t.Fatalf("%v, %+v", err, before)
	}
	hub.Fleet.SetHold("node-1", resource.HoldStatus{
		Word: resource.HoldFenced, State: resource.StateFenced, SignedReceipt: []byte("signed"),
		Receipt: &resource.Receipt{Agent: "a1", StoppedSince: apitest.Now(), ConfirmedAt: apitest.Now().Add(5 * time.Second), Reads: 3, PowerEpoch: 7},
	})
	after, err := c.GetHoldWithResponse(t.Context(), id)
	if err != nil || after.JSON200.Status.Receipt == nil {
		t.Fatalf("%v, %+v", err, after)
	}
	if st := after.JSON200.Status; st.Word != "Fenced" || st.Receipt.HoldId != id || st.Receipt.Server != "n1" || st.Receipt.Reads != 3 || !st.Receipt.StoppedSince.Equal(apitest.Now()) || string(st.SignedReceipt) != "signed" {
		t.Errorf("%+v", st.Receipt)
	}
	if _, err := c.ReleaseWithResponse(t.Context(), id, nil, client.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	if stored, err := hub.Store.Objects.Get(resource.KindHold, id); err == nil && stored.(*resource.Hold).Status.ReleasedAt == nil {
		t.Error("it is not released")
	}
}

// What the hub refuses is an error with code, hint and fields; what is no hub is another one.
func TestProblems(t *testing.T) {
	hub, c := applied(t)
	for name, row := range map[string]struct {
		call func() error
		code protocol.Code
		says string
	}{
		"not there": {func() error { _, err := c.GetServerWithResponse(t.Context(), "n9"); return err }, protocol.CodeNotFound, "n9"},
		"wrong fields": {func() error {
			_, err := c.ApplyWithResponse(t.Context(), nil, client.ApplyRequest{Objects: []any{map[string]any{"apiVersion": resource.APIVersion, "kind": "Rack", "metadata": map[string]any{"name": "R 1"}}}})
			return err
		}, protocol.CodeInvalid, ""},
		"no right": {func() error {
			_, err := clientOf(t, hub, apitest.TokenOf("viewer")).HoldWithResponse(t.Context(), "n1", nil, client.HoldRequest{Key: "k"})
			return err
		}, protocol.CodeDenied, ""},
		"a wrong token": {func() error {
			_, err := clientOf(t, hub, "0123456789abcdef-nobody").WhoamiWithResponse(t.Context())
			return err
		}, protocol.CodeDenied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := row.call()
			p := client.ProblemOf(err)
			if p == nil || p.Code != string(row.code) || p.Hint == "" || p.Status < 400 || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("%v, %+v", err, p)
			}
			if name == "wrong fields" && len(p.Errors) == 0 {
				t.Errorf("no fields in %+v", p)
			}
		})
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/servers" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		http.Error(w, "no", http.StatusTeapot)
	}))
	defer elsewhere.Close()
	other, err := client.New(client.Config{URL: elsewhere.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.WhoamiWithResponse(t.Context()); err == nil || client.ProblemOf(err) != nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("%v", err)
	}
	if _, err := other.ListServerWithResponse(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect is followed, with the token: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []client.Config{{}, {URL: "hub"}, {URL: "http://hub.example"}, {URL: "ftp://localhost"}, {URL: "https://u:p@hub.example"}, {URL: "https://hub.example", CA: []byte("no PEM")}} {
		if _, err := client.New(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	for _, url := range []string{"https://hub.example:8443", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"} {
		if _, err := client.New(client.Config{URL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Everything that the hub says of a server goes through the client's types and comes out the same.
func TestNothingIsLost(t *testing.T) {
	hub, c := applied(t)
	at := apitest.Now()
	hub.Fleet.SetServer("n1", resource.ServerStatus{
		Phase: resource.PhaseReserved, Claim: "c1", ReadAt: &at, Stale: true, Conditions: []resource.ConditionState{{Code: resource.CondHeld, Since: at, Message: "m"}},
		Report: &resource.ServerReport{
			Server: "n1", PowerEpoch: 1 << 60, StoppedSince: &at, Provisioned: []byte{1, 2}, Observation: protocol.Observation{Power: protocol.PowerOn, ReadAt: at},
			Attempt: &resource.AttemptReport{ID: "a", State: resource.AttemptFailed, Number: 3, Since: at, Code: resource.AttemptNotStored},
			Awaits:  &resource.Wait{For: resource.WaitDHCP, Since: at, Until: &at}, Holds: []resource.HoldReport{{ID: "h", Word: resource.HoldFenced, EnforcedAt: at, Receipt: []byte("r")}},
		},
	})
	got, err := c.GetServerWithResponse(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got.JSON200)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, got.Body), tree(t, again)); diff != "" {
		t.Error(diff)
	}
}

// tree is JSON with its numbers as they are written.
func tree(t *testing.T, raw []byte) (out any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Of these fields alone absent is not empty, so that they are pointers in the client too; tools/client knows them.
func TestAbsentIsEmpty(t *testing.T) {
	want := []string{"FirmwareProfileSpec.httpURL"}
	found, seen := map[string]bool{}, map[reflect.Type]bool{}
	for _, kind := range resource.Kinds() {
		pointers(reflect.TypeOf(resource.NewObject(kind)), seen, found)
	}
	var got []string
	for name := range found {
		got = append(got, name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q: name them in tools/client, make client", got, want)
	}
	if reflect.TypeFor[client.FirmwareProfileSpec]().NumField() == 0 || fieldType[client.FirmwareProfileSpec](t, "httpURL").Kind() != reflect.Pointer {
		t.Error("httpURL is no pointer in the client")
	}
}

// pointers finds fields of JSON that are pointers to texts, numbers or truths.
func pointers(of reflect.Type, seen map[reflect.Type]bool, found map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return
	}
	seen[of] = true
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.Pointer && name != "-" {
			switch f.Type.Elem().Kind() {
			case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
				found[of.Name()+"."+name] = true
			}
		}
		pointers(f.Type, seen, found)
	}
}

func fieldType[T any](t *testing.T, name string) reflect.Type {
	t.Helper()
	for f := range reflect.TypeFor[T]().Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type
		}
	}
	t.Fatalf("no field %s", name)
	return nil
}
