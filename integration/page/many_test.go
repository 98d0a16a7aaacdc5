package page

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/web"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// many is the fleet that the page is promised for, in racks of fifty.
const many, perRack = 50_000, 50

// TestMany: before 50,000 servers the list scrolls without a stop. How long frames take is logged, and judged only by a
// bound that no busy machine reaches: no measurement is a test.
func TestMany(t *testing.T) {
	b := browser(t)
	a, h := apitest.NewHandler(t, func(*api.Config) {})
	ctx := t.Context()
	for r := range many / perRack {
		rack, net := fmt.Sprintf("r%04d", r), fmt.Sprintf("10.%d.%d.", r>>8, r&255)
		objs := []resource.Object{
			&resource.Rack{Header: head(resource.KindRack, rack)},
			&resource.Segment{Header: head(resource.KindSegment, rack), Spec: resource.SegmentSpec{RackRef: resource.Ref{Name: rack}, Role: resource.SegmentBoot, Prefix: net + "0/24", Address: net + "1", Pool: resource.Pool{From: net + "10", To: net + "200"}, BaseURL: "http://" + net + "1:8080"}},
		}
		for i := range perRack {
			name := fmt.Sprintf("%s-n%d", rack, i)
			n := r*perRack + i
			objs = append(objs,
				&resource.BMC{Header: head(resource.KindBMC, name), Spec: resource.BMCSpec{RackRef: resource.Ref{Name: rack}, Address: fmt.Sprintf("https://10.%d.%d.%d", 100+n>>16, n>>8&255, n&255), CredentialsRef: "local:x", TLS: resource.BMCTLS{Fingerprint: "sha256:" + strings.Repeat("00", 32)}}},
				&resource.Server{Header: head(resource.KindServer, name), Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: name}, SegmentRef: resource.Ref{Name: rack}, BootMAC: fmt.Sprintf("52:54:00:%02x:%02x:%02x", n>>16, n>>8&255, n&255)}})
			power := protocol.PowerOn
			if n%3 == 0 {
				power = protocol.PowerOff
			}
			h.Fleet.SetServer(name, resource.ServerStatus{Phase: resource.PhaseReserved, Report: &resource.ServerReport{Power: power}})
		}
		for _, o := range objs {
			o.Default()
		}
		if _, err := h.Store.Sets.Apply(ctx, objs, store.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := web.New(web.Config{API: a, Callers: a.Gate(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(f)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)

	began := time.Now()
	p := open(b, t, srv.URL, apitest.Token)
	p.until(`document.querySelectorAll(".rackcard").length > 0`, patience)
	t.Logf("first racks after %s", time.Since(began).Round(time.Millisecond))
	p.sees("1,000 racks, 50,000 servers")
	p.until(`!document.body.innerText.includes("counting")`, patience)
	t.Logf("all counted after %s", time.Since(began).Round(time.Millisecond))
	p.picture("many-fleet")
	p.at("servers")
	p.until(`document.querySelector(".vlist")`, patience)
	var frames []float64
	p.trace(func() { frames = scroll(p) })
	t.Logf("scrolled 50,000 servers: %d frames, median %.1f ms, 99th of 100 %.1f ms, longest %.1f ms", int(frames[0]), frames[1], frames[2], frames[3])
	if frames[2] > 500 {
		t.Errorf("a frame of a hundred takes %.0f ms", frames[2])
	}
	p.picture("many-servers")
	if n := ask[int](p, `document.querySelectorAll(".vrow").length`); n > 200 {
		t.Errorf("%d rows are drawn", n)
	}
	began = time.Now()
	ask[bool](p, `(() => { const f = document.getElementById("find"); f.value = "52:54:00:00:c3:4f"; f.dispatchEvent(new Event("input")); return true; })()`)
	p.sees("r0999-n49")
	t.Logf("found by its MAC address after %s", time.Since(began).Round(time.Millisecond))
}

// scroll goes from the first row to the last in 300 steps, one a frame, and returns how many frames there were, and of
// their times in milliseconds the median, the 99th percentile and the longest.
func scroll(p *person) []float64 {
	p.t.Helper()
	ask[bool](p, `(() => {
		const v = document.querySelector(".vlist"), times = [];
		let last = performance.now(), n = 0;
		const step = (now) => {
			if (n > 0) times.push(now - last);
			last = now;
			v.scrollTop = (v.scrollHeight - v.clientHeight) * Math.min(1, ++n / 300);
			if (n <= 300) return requestAnimationFrame(step);
			times.sort((a, b) => a - b);
			window.frames300 = [times.length, times[times.length >> 1], times[Math.floor(times.length * 0.99)], times.at(-1)];
		};
		requestAnimationFrame(step);
		return true;
	})()`)
	p.until("window.frames300", patience)
	return ask[[]float64](p, "window.frames300")
}

func head(kind resource.Kind, name string) resource.Header {
	return resource.Header{APIVersion: resource.APIVersion, Kind: kind, Metadata: resource.Metadata{Name: name}}
}
