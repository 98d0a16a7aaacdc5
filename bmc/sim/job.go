package sim

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxJobs bounds the jobs kept; older ones are forgotten.
const maxJobs = 100

// job is a task or job: a change that waits for a reset, or an update.
type job struct {
	id    string
	uri   string
	name  string
	host  *Host
	made  time.Time
	state string // Redfish TaskState: New, Running, Completed, Exception
	said  object // a Message; nil for none
}

// addJob makes a job. b.mu is held.
func (b *BMC) addJob(h *Host, name string) *job {
	if len(b.jobs) == maxJobs {
		b.jobs = b.jobs[1:]
	}
	j := &job{id: "jid_" + strconv.Itoa(len(b.jobs)+1), name: name, host: h, made: time.Now(), state: "New"}
	collection := uriRoot + "/TaskService/Tasks"
	if len(b.layout.tasks) > 0 {
		collection = strings.TrimRight(b.layout.tasks[0], "/")
	}
	j.uri = collection + "/" + j.id
	b.jobs = append(b.jobs, j)
	return j
}

// openJob says whether a job of the host waits for a reset. b.mu is held.
func (b *BMC) openJob(h *Host) bool {
	for _, j := range b.jobs {
		if j.host == h && j.state == "New" {
			return true
		}
	}
	return false
}

// finishJobs ends the jobs of a host that is reset. b.mu is held.
func (b *BMC) finishJobs(h *Host) {
	for _, j := range b.jobs {
		if j.host == h {
			j.state = "Completed"
		}
	}
}

func (b *BMC) getJobs(r *request) *answer {
	body := b.tree.get(r.uri)
	if body == nil {
		body = object{"@odata.id": r.URL.Path, "Name": "Jobs"}
	}
	var uris []string
	for _, j := range b.jobs {
		if time.Since(j.made) >= b.personality.BIOS.JobHidden {
			uris = append(uris, strings.TrimRight(r.URL.Path, "/")+"/"+j.id)
		}
	}
	setMembers(body, uris)
	return b.tagged(r, body)
}

// postJob commits what waits in the BIOS settings of the first host.
func (b *BMC) postJob(r *request) *answer {
	h := b.hosts[0]
	switch {
	case b.openJob(h):
		return refuse(&refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.RAC0679", text: "the configuration is already committed"})
	case len(h.waiting) == 0:
		return refuse(&refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS405", text: "nothing waits"})
	default:
		a := reply(http.StatusAccepted, nil)
		a.header.Set("Location", b.addJob(h, "BIOS configuration").uri)
		return a
	}
}

func (b *BMC) jobMember(r *request, method, id string) *answer {
	for _, j := range b.jobs {
		if j.id != id {
			continue
		}
		if time.Since(j.made) < b.personality.BIOS.JobHidden {
			return missing()
		}
		if method != http.MethodGet {
			break
		}
		body := object{
			"@odata.id": j.uri, "@odata.type": "#Task.v1_5_0.Task", "Id": j.id, "Name": j.name,
			"TaskState": j.state, "JobState": j.state, "StartTime": j.made.UTC().Format(time.RFC3339),
		}
		if j.said != nil {
			body["TaskStatus"], body["Messages"] = "Critical", []any{j.said}
		}
		return b.tagged(r, body)
	}
	return nil
}

// postUpdate takes a firmware update (UpdateService.SimpleUpdate).
func (b *BMC) postUpdate(r *request) *answer {
	body, refused := r.object()
	if refused == nil && textAt(body, "ImageURI") == "" {
		refused = &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterMissing", text: "parameter ImageURI"}
	}
	if refused != nil {
		return refuse(refused)
	}
	h := b.hosts[0]
	j := b.addJob(h, "firmware update")
	rules := b.personality.Update
	b.after(rules.Takes, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		j.state = "Completed"
		b.moves.to(h.place.uri, rules.Moves)
		if rules.Reboots && h.machine.State() != MachineOff {
			h.restart("firmware update")
		}
	})
	a := reply(http.StatusAccepted, nil)
	a.header.Set("Location", j.uri)
	return a
}
