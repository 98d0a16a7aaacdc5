package guard

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// A walk is functions that go over all resources of a kind, or over all of a fleet, and why
// they may.
type walk struct {
	why   string
	funcs []string
}

func walks() []walk {
	return []walk{
		{"the way to all of a kind, which those below go", []string{
			"hub/store.List", "hub/store.Copies", "hub/store.Objects.Copies", "hub/store.book.list", "hub/store.Approvals.List",
			"hub/store.AgentPackages.List", "hub/store.Contents.List", "hub/store.Hubs.List", "hub/store.ISOs.List", "hub/store.Repositories.List", "hub/store.Requests.List", "hub/store.Secrets.List", "hub/store.Secrets.kept",
		}},
		{"all of it is what somebody reads", []string{
			"hub/status.Room.decorateFreeze", "hub/api.lister.each", "hub/api.requests.list", "hub/approvals.Room.List",
			"hub/status.Room.doctorAgents", "hub/status.Room.doctorGroups", "hub/members.Lagging", "hub/iso.Shelf.List",
		}},
		{"a scrape counts all of them", []string{
			"hub/exporter.Room.look", "hub/exporter.Room.Targets", "hub/exporter.hubGroup.collect",
			"hub/images.Room.States", "hub/link.Room.Collect", "hub/members.Room.Collect", "hub/iso.metrics.Collect", "hub/secret.metrics.Collect",
		}},
		{"once when the hub starts, or for an Import as a whole", []string{
			"hub/members.Room.CutRevoked", "hub/events.Open", "hub/secret.Vault.Start", "hub/store.Sets.judgeEach", "hub/store.Store.wanted",
		}},
		{"rackboot-hub check reads all there is", []string{"hub/store.Store.Flaws", "hub/daemon.checking.secrets", "hub/daemon.namedContents"}},
		{"once for each connection of the hub, to count agents", []string{"hub/link.sender.announce"}},
		{"a bulk operation is begun again once in the life of a hub", []string{"hub/bulk.Room.asked"}},
		{"every Secret gets another key", []string{"hub/secret.Vault.Rekey"}},
		{"tests look whether anything that is shared was changed", []string{"hub/store.Objects.Altered"}},
		{"it removes what nothing needs any more, of all there is", []string{
			"hub/store.book.sweep", "hub/store.Inventories.Sweep", "hub/store.Secrets.SweepStubs", "hub/store.Answers.makeRoom", "hub/store.BootImages.Files",
			"hub/env.Room.ISODigests", "hub/requests.Room.Sweep", "hub/approvals.Room.Sweep", "hub/groups.Room.sweepRevisions", "hub/inventory.Room.Forget",
			"hub/control.Control.forgetImages", "hub/discovery.Askers", "hub/control.Control.sweepAll",
			"hub/iso.removal.named",
		}},
		{"profiles of firmware are few, and each has a selector", []string{"hub/inventory.FirmwarePlans.Plan"}},
		{"uploaded files are few, and one is looked for by its digest once for an upload", []string{"hub/iso.contents.named", "hub/iso.contents.kept"}},
		{"upgrades of agents are few, and while there are any all racks are looked at, each 2 s or 15 s: they are what is upgraded", []string{"hub/upgrades.Room.Turn"}},
		{"upgrades of agents are few, and one is looked for by its package when packages are shown or one is deleted", []string{"hub/packages.Room.users"}},
		{"what boot environments say of files is judged by their texts, and environments are few", []string{"hub/iso.Shelf.checkWanted", "hub/iso.Shelf.checkNeeded", "hub/iso.Shelf.users", "hub/store.Objects.envUsers"}},
		{"the view of a turn, which is what a rack has, or what is in no rack; and that of the site, which is all there is", []string{
			"hub/view.Reader.Site", "hub/view.Reader.Rack", "hub/view.Reader.outside", "hub/view.Reader.inRacks", "hub/view.Reader.furnished", "hub/holds.Room.fleet", "hub/env.Room.isos", "hub/inventory.Room.Sealed", "hub/env.Room.sealedEnvs",
			"hub/env.Room.ignitions", "hub/revisions.Room.Keeps", "hub/dispatch.Room.shards", "hub/revisions.Room.Begin", "hub/holds.Room.waiting",
			"hub/plan.Fleet.Indexed", "hub/plan.Fleet.selectorLabels",
		}},
		{"every rack is to have a turn", []string{"hub/wake.Units.All", "hub/wake.Units.rackNames"}},
		{"every rack is worked by some hub", []string{"hub/sharing.racksOf"}},
		{"a turn goes over its view once, and looks up what it needs for each", []string{
			"hub/claims.Room.Turn", "hub/claims.Room.Allot", "hub/claims.Room.Offer", "hub/control.Control.share", "hub/control.Control.vacate", "hub/inventory.Room.Find", "hub/inventory.Room.SeeBehind", "hub/dispatch.Room.Give", "hub/approvals.Room.Turn",
			"hub/images.Room.Turn", "hub/maintenance.Room.Turn", "hub/discovery.Room.Turn", "hub/env.Room.InForce",
			"hub/plan.Compile", "hub/plan.CompileHolds", "hub/plan.Discoveries", "hub/plan.Maintain", "hub/plan.numberQueued",
			"hub/plan.discoveriesUnderWay", "hub/plan.StrayDiscoveries",
		}},
		{"of a fleet that has no index, which has one server or few", []string{
			"hub/plan.Fleet.bmc", "hub/plan.Fleet.server", "hub/plan.Fleet.behind", "hub/plan.Fleet.segments", "hub/plan.Fleet.Rack", "hub/plan.Fleet.ClaimOf",
			"hub/plan.Fleet.configFor", "hub/plan.Fleet.held", "hub/plan.Fleet.MaintenanceOf", "hub/plan.Fleet.DiscoveryOf", "hub/plan.Fleet.Selected",
			"hub/view.Reader.Around",
		}},
		{"rows of a scrape are made of a rack's view, or of what is in no rack", []string{"hub/exporter.Room.rowsOf"}},
		{"a bundle has all params", []string{"hub/plan.EnvBundle", "hub/plan.EnvShared"}},
	}
}

// In a fleet of 50,000 servers a function that goes over all of a kind to find some of them
// makes each report and each write dear. Whoever looks for some asks an index.
func TestWhoLooksForSomeAsksAnIndex(t *testing.T) {
	allowed := map[string]bool{}
	for _, w := range walks() {
		for _, f := range w.funcs {
			if allowed[f] {
				t.Errorf("%s has two rows", f)
			}
			allowed[f] = true
		}
	}
	found := map[string]string{}
	for _, s := range sources(t, func(p string) bool {
		return strings.HasPrefix(p, "hub/") && !isTest(p) && !strings.Contains(p, "test/")
	}) {
		maps.Copy(found, walksOf(s))
	}
	for _, f := range slices.Sorted(maps.Keys(found)) {
		if !allowed[f] {
			t.Errorf("%s: %s goes over all there are. To find some, use store.Find with a Key, store.Referring, or a lookup of plan.Fleet; "+
				"add a row to newIndexes in hub/store/index.go, or to hub/plan/index.go, where none fits. If it does need all of them, say why in walks", found[f], f)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(allowed)) {
		if found[f] == "" {
			t.Errorf("%s goes over nothing any more: take it out of walks", f)
		}
	}
}

// walksOf returns the functions of a file that go over all of something, and where.
func walksOf(s source) map[string]string {
	out := map[string]string{}
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		set := map[ast.Node]bool{} // where a fleet is made
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					set[l] = true
				}
			case *ast.CallExpr:
				if lists(n) {
					out[nameOf(s, fn)] = s.at(n)
				}
			case *ast.SelectorExpr:
				if !set[n] && fleetSlice(n) {
					out[nameOf(s, fn)] = s.at(n)
				}
			}
			return true
		})
	}
	return out
}

// nameOf is a function with its package, and a method with its type.
func nameOf(s source, fn *ast.FuncDecl) string {
	name := fn.Name.Name
	if fn.Recv != nil {
		t := fn.Recv.List[0].Type
		if p, ok := t.(*ast.StarExpr); ok {
			t = p.X
		}
		if g, ok := t.(*ast.IndexExpr); ok {
			t = g.X
		}
		name = fmt.Sprint(t) + "." + name
	}
	return path.Dir(s.path) + "." + name
}

// lists reports whether a call lists a kind, or a bucket of the store.
func lists(call *ast.CallExpr) bool {
	fun := call.Fun
	if g, ok := fun.(*ast.IndexExpr); ok { // List[*resource.Server](s)
		fun = g.X
		if sel, ok := fun.(*ast.SelectorExpr); ok {
			fun = sel.Sel
		}
		id, ok := fun.(*ast.Ident)
		return ok && (id.Name == "List" || id.Name == "Copies") && len(call.Args) == 1
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "list":
		return isBucket(sel.X)
	case "Copies": // of a kind
		return len(call.Args) == 1
	case "List":
		return len(call.Args) == 0 && isNoun(sel.X)
	}
	return false
}

// isNoun reports whether what is listed is a noun of the store that has all of something: s.ISOs, or
// secrets where somebody was given that noun alone. The rooms have Approvals of their own.
func isNoun(x ast.Expr) bool {
	if id, ok := x.(*ast.Ident); ok {
		return slices.Contains([]string{"approvals", "isos", "requests", "secrets"}, id.Name)
	}
	sel, ok := x.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Approvals" {
		return ok && slices.Contains([]string{"ISOs", "Requests", "Secrets"}, sel.Sel.Name)
	}
	switch of := sel.X.(type) {
	case *ast.Ident:
		return of.Name == "s" || of.Name == "st"
	case *ast.SelectorExpr:
		return strings.EqualFold(of.Sel.Name, "store")
	}
	return false
}

// isBucket reports whether what is listed is the mirror of the store or a book in it.
func isBucket(x ast.Expr) bool {
	sel, ok := x.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"mirror", "book", "former"}, sel.Sel.Name)
}

// fleetSlice reports whether an expression is all of a kind in a plan.Fleet, which is named
// f wherever there is one, or in its Environments, which are e alone.
func fleetSlice(sel *ast.SelectorExpr) bool {
	of := ""
	switch x := sel.X.(type) {
	case *ast.Ident:
		of = x.Name
	case *ast.SelectorExpr:
		of = x.Sel.Name
	}
	if of == "Env" || of == "e" {
		return sel.Sel.Name == "Params"
	}
	return (of == "f" || of == "Fleet") && slices.Contains([]string{
		"Racks", "Agents", "Segments", "BMCs", "Servers", "Claims", "Maintenances", "Configs", "Holds", "Requests", "Groups",
	}, sel.Sel.Name)
}

// TestWalksAreSeen: the guard can fail.
func TestWalksAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		`func f(s *Store) { for range List[*resource.Claim](s) {} }`:                                    "p.f",
		`func (c *Control) f() { store.List[*resource.Claim](c.cfg.Store) }`:                            "p.Control.f",
		`func (s *Store) f() { s.mirror.list("res.claims") }`:                                           "p.Store.f",
		`func (b *book[V]) f() { b.store.mirror.list(b.bucket) }`:                                       "p.book.f",
		`func f(s *Store) { s.Requests.List() }`:                                                        "p.f",
		`func f(s *Store) { s.Approvals.List() }`:                                                       "p.f",
		`func f(secrets *store.Secrets) { secrets.List() }`:                                             "p.f",
		`func f(r *Room) { r.cfg.Approvals.List() }`:                                                    "",
		`func g(f plan.Fleet) { for range f.Servers {} }`:                                               "p.g",
		`func g(p *pass) { slices.IndexFunc(p.f.Racks, nil) }`:                                          "p.g",
		`func g(f plan.Fleet) { for range f.Env.Params {} }`:                                            "p.g",
		`func g(e Environments) { for range e.Params {} }`:                                              "p.g",
		`func g(s *Store) (f plan.Fleet) { f.Racks = nil; return f }`:                                   "",
		`func f(s *Store) { for range store.Find(s, store.ClaimsByServer, "n1") {} }`:                   "",
		`func f(w *world) { find[*resource.Rack](w, "r1") }`:                                            "",
		`func f(a *api) answer[List[int]] { return answer[protoapi.List[int]]{a.List(1)} }`:             "",
		`func f(s *Store) { s.Requests.OpenOf("r1"); only[*resource.Claim](s.mirror.find("x", "n1")) }`: "",
	} {
		got := slices.Collect(maps.Keys(walksOf(parse(t, "p/p.go", []byte("package p\n"+text)))))
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
