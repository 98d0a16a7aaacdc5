package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// BenchmarkTable asks a hub for all of 10,000 servers in pages of 500: as resources, and as tables. Their status is as long
// as that of servers that run.
func BenchmarkTable(b *testing.B) {
	a, h := handler(b, func(*api.Config) {})
	put := func(obj resource.Object) {
		if err := h.Store.Objects.Put(b.Context(), obj); err != nil {
			b.Fatal(err)
		}
	}
	at := apitest.Now()
	status := resource.ServerStatus{
		Phase: resource.PhaseReserved, Claim: "claim-of-a-server", AcceptedIdentity: "sha256:" + strings.Repeat("0f", 32), OS: "registry.example/os:1", ReadAt: &at,
		Report: &resource.ServerReport{
			Observation: protocol.Observation{Power: protocol.PowerOn, ReadAt: at}, Power: protocol.PowerOn, PowerEpoch: 7, LastPoweredOn: &at,
			OwnerUID: strings.Repeat("u", 26), BootGeneration: 3, ArtefactsLocal: true, Identity: "sha256:" + strings.Repeat("0f", 32), Architecture: "amd64",
			Attempt:     &resource.AttemptReport{State: resource.AttemptSucceeded, Number: 1, URI: "http://10.7.0.1:8080/boot/" + strings.Repeat("t", 43), Since: at},
			Provisioned: []byte(strings.Repeat("signed", 100)),
		},
		Conditions: []resource.ConditionState{{Code: resource.CondHeld, Since: at, Message: strings.Repeat("by somebody ", 10)}},
	}
	put(storetest.Rack("r1"))
	put(storetest.Segment("boot", "r1"))
	for i := range 10_000 {
		name := fmt.Sprintf("r1-n%d", i)
		put(storetest.BMC(name, "r1"))
		put(storetest.Server(name, name, "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255)))
		h.Fleet.SetServer(name, status)
	}
	for _, row := range []struct{ name, query string }{{"resources", ""}, {"table", "&as=table"}, {"wide table", "&as=table&wide=true"}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = 0
				for after := ""; ; {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/servers?limit=500"+row.query+"&after="+url.QueryEscape(after), nil)
					r.Header.Set("Authorization", tokenOf("admin"))
					w := httptest.NewRecorder()
					a.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body.String())
					}
					size += w.Body.Len()
					var page struct{ Next string }
					b.StopTimer()
					if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					if after = page.Next; after == "" {
						break
					}
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB-answered")
		})
	}
}
