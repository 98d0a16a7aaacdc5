package rack

import (
	"net/http"
	"testing"

	"rackboot/protocol/resource"
)

// TestBootEnvAway: what a repository does not give now is not absent for an installer, which
// would go on without it: it is told to ask again. Only the repository's own word is a 404.
func TestBootEnvAway(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	files := installFiles()
	files["away"], files["refused"], files["login"] = "HTTP 503", "HTTP 403", "HTTP 401"
	b.claimEnv(0, b.fromRepository(0, b.repository(files), nil))
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	from := b.installer(0)
	for name, want := range map[string]int{
		"dists/stable/Release": http.StatusOK, "nothing": http.StatusNotFound,
		"away": http.StatusServiceUnavailable, "refused": http.StatusServiceUnavailable, "login": http.StatusServiceUnavailable,
	} {
		status, header, got := b.get(http.MethodGet, "http://"+b.http.String()+"/machines/"+b.intents[0].UID+"/boot/"+name, from)
		if status != want || (header.Get("Retry-After") != "") != (want == http.StatusServiceUnavailable) {
			t.Errorf("%s: %d %q, Retry-After %q; want %d", name, status, got[:min(len(got), 100)], header.Get("Retry-After"), want)
		}
	}
	finish()
	b.until("the disk boot after the installation", 0, diskBoot)
}
