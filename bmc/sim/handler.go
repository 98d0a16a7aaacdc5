package sim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	uriRoot    = "/redfish/v1"
	uriSystems = uriRoot + "/Systems"
	uriSystem  = uriSystems + "/1"
)

// SystemURI is the URI of the machine's ComputerSystem in [GenericTree].
const SystemURI = uriSystem

// handle answers one kind of request, with b.mu held.
type handle func(*request) *answer

// router maps the live resources; all else is answered from the tree.
func (b *BMC) router() map[string]handle {
	routes := make(map[string]handle)
	add := func(method, uri string, h handle) {
		if uri != "" {
			routes[method+" "+fold(uri)] = h
		}
	}
	add("GET", uriRoot, b.getRoot)
	add("GET", b.layout.collection, b.getSystems)
	for _, uri := range b.layout.managers {
		add("GET", uri, b.getManager)
	}
	add("GET", b.layout.sessions, b.getSessions)
	add("POST", b.layout.sessions, b.postSession)
	add("POST", strings.TrimRight(b.layout.sessions, "/")+"/Members", b.postSession)
	add("GET", uriAccountSv, b.getAccountService)
	add("GET", uriAccounts, b.getAccounts)
	add("POST", uriAccounts, b.postAccount)
	add("GET", b.layout.subscriptions, b.getSubscriptions)
	add("POST", b.layout.subscriptions, b.postSubscription)
	add("POST", b.layout.testEvent, b.postTestEvent)
	add("GET", b.layout.stream, b.getStream)
	add("POST", b.layout.update, b.postUpdate)
	for _, uri := range b.layout.tasks {
		add("GET", uri, b.getJobs)
		add("POST", uri, b.postJob)
	}
	for _, h := range b.hosts {
		add("GET", h.place.uri, h.getSystem)
		add("PATCH", h.place.uri, h.patchSystem)
		add("POST", h.place.reset, h.postReset)
		add("GET", h.place.settings, h.getSettings)
		add("PATCH", h.place.settings, h.patchSettings)
		add("GET", h.place.oemBoot, h.getOEMBoot)
		add("PATCH", h.place.oemBoot, h.patchOEMBoot)
		add("GET", h.place.fixedOrder, h.getFixedOrder)
		add("PATCH", h.place.fixedOrder, h.patchFixedOrder)
		add("GET", h.place.bios, h.getBIOS)
		add("GET", h.place.biosSettings, h.getBIOSSettings)
		add("PATCH", h.place.biosSettings, h.patchBIOSSettings)
		add("GET", h.place.secureBoot, h.getSecureBoot)
		add("PATCH", h.place.secureBoot, h.patchSecureBoot)
		add("GET", h.place.powerLog, h.getPowerLog)
		for i, slot := range h.place.media {
			b.routeMedia(add, h, slot, i)
		}
	}
	return routes
}

// handle answers a request that is allowed. b.mu is held.
func (b *BMC) handle(r *request) *answer {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if do, ok := b.routes[method+" "+r.uri]; ok {
		return do(r)
	}
	if a := b.member(r, method); a != nil {
		return a
	}
	if body := b.tree.get(r.uri); body != nil {
		if method != http.MethodGet {
			return refuse(&refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.OperationNotAllowed", text: "this resource is read only"})
		}
		return b.tagged(r, body)
	}
	return missing()
}

// member answers for what is made at run time: sessions, subscriptions, jobs.
// nil if the URI is no such thing.
func (b *BMC) member(r *request, method string) *answer {
	cut := strings.LastIndexByte(r.uri, '/')
	if cut < 0 {
		return nil
	}
	collection, id := r.uri[:cut], r.uri[cut+1:]
	switch {
	case b.layout.sessions != "" && collection == fold(b.layout.sessions):
		return b.sessionMember(method, id)
	case collection == fold(uriAccounts):
		return b.accountMember(r, method, id)
	case b.layout.subscriptions != "" && collection == fold(b.layout.subscriptions):
		return b.subscriptionMember(method, id)
	case slices.ContainsFunc(b.layout.tasks, func(uri string) bool { return collection == fold(uri) }):
		return b.jobMember(r, method, id)
	default:
		return nil
	}
}

func (b *BMC) getRoot(r *request) *answer {
	body := b.tree.get(r.uri)
	body["AccountService"] = link(uriAccountSv)
	if b.personality.Session.NoLink {
		delete(body, "Links")
	}
	return b.tagged(r, body)
}

func (b *BMC) getSystems(r *request) *answer {
	body := b.tree.get(r.uri)
	if b.personality.Wire.Loop && body != nil {
		body["Members@odata.nextLink"] = b.layout.collection + "?$skip=1"
	}
	return b.tagged(r, body)
}

func (b *BMC) getManager(r *request) *answer {
	body := b.tree.get(r.uri)
	if _, ok := body["DateTime"]; ok {
		body["DateTime"] = time.Now().Add(b.personality.Report.Clock).UTC().Format(time.RFC3339)
	}
	return b.tagged(r, body)
}
