package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"
)

const (
	maxBody  = 64 << 10
	modeUEFI = "UEFI"

	uriRoot      = "/redfish/v1"
	uriSystems   = uriRoot + "/Systems"
	uriSystem    = uriSystems + "/1"
	uriBaseboard = uriSystems + "/HGX_Baseboard_0"
	uriReset     = uriSystem + "/Actions/ComputerSystem.Reset"
	uriResetInfo = uriSystem + "/ResetActionInfo"
	uriManagers  = uriRoot + "/Managers"
	uriManager   = uriManagers + "/1"
	uriSessionSv = uriRoot + "/SessionService"
	uriSessions  = uriSessionSv + "/Sessions"
)

// SystemURI is the URI of the machine's ComputerSystem.
const SystemURI = uriSystem

// refusal is an error answer with a Redfish MessageId (DSP0266, error responses).
type refusal struct {
	status int
	id     string
	text   string
}

// object is a JSON object in an answer.
type object = map[string]any

func (b *BMC) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+uriRoot, b.getRoot)
	mux.HandleFunc("GET "+uriRoot+"/{$}", b.getRoot)
	mux.HandleFunc("GET "+uriSystems, b.getSystems)
	mux.HandleFunc("GET "+uriSystem, b.getSystem)
	mux.HandleFunc("PATCH "+uriSystem, b.patchSystem)
	mux.HandleFunc("GET "+uriBaseboard, b.getBaseboard)
	mux.HandleFunc("POST "+uriReset, b.postReset)
	mux.HandleFunc("GET "+uriResetInfo, b.getResetInfo)
	mux.HandleFunc("GET "+uriManagers, b.getManagers)
	mux.HandleFunc("GET "+uriManager, b.getManager)
	mux.HandleFunc("GET "+uriSessionSv, b.getSessionService)
	mux.HandleFunc("GET "+uriSessions, b.getSessions)
	mux.HandleFunc("POST "+uriSessions, b.postSession)
	mux.HandleFunc("DELETE "+uriSessions+"/{id}", b.deleteSession)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &refusal{status: http.StatusNotFound, id: "Base.1.13.ResourceMissingAtURI", text: "no such resource"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		delay := b.personality.AnswerDelay
		b.mu.Unlock()
		fault, faulty := b.takeFault(r)
		if delay += fault.Delay; delay > 0 && !pause(r.Context(), delay) {
			panic(http.ErrAbortHandler)
		}
		if faulty {
			if fault.Perform && b.allowed(r) {
				mux.ServeHTTP(httptest.NewRecorder(), r)
			}
			fault.answer(w)
			return
		}
		if !b.allowed(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="BMC"`)
			writeError(w, &refusal{status: http.StatusUnauthorized, id: "Base.1.13.NoValidSession", text: "there is no valid session"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func writeObject(w http.ResponseWriter, status int, o object) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(o)
}

func writeError(w http.ResponseWriter, r *refusal) {
	e := object{"code": "Base.1.13.GeneralError", "message": "see @Message.ExtendedInfo"}
	if r.id != "" {
		e["@Message.ExtendedInfo"] = []object{{"MessageId": r.id, "Message": r.text}}
	}
	writeObject(w, r.status, object{"error": e})
}

func link(uri string) object { return object{"@odata.id": uri} }

func (b *BMC) getRoot(w http.ResponseWriter, _ *http.Request) {
	writeObject(w, http.StatusOK, object{
		"@odata.id": uriRoot, "@odata.type": "#ServiceRoot.v1_10_0.ServiceRoot",
		"Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.13.1",
		"Systems": link(uriSystems), "Managers": link(uriManagers), "SessionService": link(uriSessionSv),
		"Links": object{"Sessions": link(uriSessions)},
	})
}

func (b *BMC) getManagers(w http.ResponseWriter, _ *http.Request) {
	writeObject(w, http.StatusOK, collection(uriManagers, "ManagerCollection", uriManager))
}

func (b *BMC) getManager(w http.ResponseWriter, _ *http.Request) {
	writeObject(w, http.StatusOK, object{
		"@odata.id": uriManager, "@odata.type": "#Manager.v1_12_0.Manager",
		"Id": "1", "Name": "Manager", "ManagerType": "BMC",
		"DateTime": time.Now().UTC().Format(time.RFC3339),
		"Links":    object{"ManagerForServers": []object{link(uriSystem)}},
	})
}

func collection(uri, kind string, members ...string) object {
	list := []object{}
	for _, m := range members {
		list = append(list, link(m))
	}
	return object{
		"@odata.id": uri, "@odata.type": "#" + kind + "." + kind, "Name": kind,
		"Members": list, "Members@odata.count": len(list),
	}
}
