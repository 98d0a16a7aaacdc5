package sim

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"rackboot/bmc/sim/tree"
)

// maxJobs bounds the jobs kept; older ones are forgotten.
const maxJobs = 100

// job is a task or job: a change that waits for a reset, or an update.
type job struct {
	id    string
	uri   string
	name  string
	host  string // URI of its system
	made  time.Time
	state string      // Redfish TaskState: New, Running, Completed, Exception
	said  tree.Object // a Message; nil for none
}

// jobs are those of a BMC. Its methods are safe for concurrent use.
type jobs struct {
	manner *manner
	tags   *tags
	tree   *tree.Tree
	uris   []string // of the collections that show them

	mu   sync.Mutex
	list []*job
}

func newJobs(m *manner, g *tags, t *tree.Tree, uris []string) *jobs {
	return &jobs{manner: m, tags: g, tree: t, uris: uris}
}

func (l *jobs) routes(t *router) {
	for _, uri := range l.uris {
		t.add("GET", uri, l.get)
		t.addMembers(uri, l.member)
	}
}

// forget drops all.
func (l *jobs) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// become gives a job a state, and a Message or nil.
func (l *jobs) become(j *job, state string, said tree.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j.state, j.said = state, said
}

// add makes a job.
func (l *jobs) add(host string, name string) *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == maxJobs {
		l.list = l.list[1:]
	}
	j := &job{id: "jid_" + strconv.Itoa(len(l.list)+1), name: name, host: host, made: time.Now(), state: "New"}
	collection := tree.RootURI + "/TaskService/Tasks"
	if len(l.uris) > 0 {
		collection = strings.TrimRight(l.uris[0], "/")
	}
	j.uri = collection + "/" + j.id
	l.list = append(l.list, j)
	return j
}

// waits says whether a job of the host waits for a reset.
func (l *jobs) waits(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if j.host == host && j.state == "New" {
			return true
		}
	}
	return false
}

// finish ends the jobs of a host that is reset.
func (l *jobs) finish(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if j.host == host {
			j.state = "Completed"
		}
	}
}

func (l *jobs) get(r *request) *answer {
	body := l.tree.Get(r.uri)
	if body == nil {
		body = tree.Object{"@odata.id": r.URL.Path, "Name": "Jobs"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var uris []string
	for _, j := range l.list {
		if time.Since(j.made) >= l.manner.now().BIOS.JobHidden {
			uris = append(uris, strings.TrimRight(r.URL.Path, "/")+"/"+j.id)
		}
	}
	tree.SetMembers(body, uris)
	return l.tags.tagged(r, body)
}

func (l *jobs) member(r *request, method, id string) *answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.list {
		if j.id != id {
			continue
		}
		if time.Since(j.made) < l.manner.now().BIOS.JobHidden {
			return missing()
		}
		if method != http.MethodGet {
			break
		}
		body := tree.Object{
			"@odata.id": j.uri, "@odata.type": "#Task.v1_5_0.Task", "Id": j.id, "Name": j.name,
			"TaskState": j.state, "JobState": j.state, "StartTime": j.made.UTC().Format(time.RFC3339),
		}
		if j.said != nil {
			body["TaskStatus"], body["Messages"] = "Critical", []any{j.said}
		}
		return l.tags.tagged(r, body)
	}
	return nil
}
