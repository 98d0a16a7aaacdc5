package resource

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
)

// whose says whose a field of a server's status is.
type whose string

const (
	ofServer whose = "server"
	ofOwner  whose = "owner"  // goes with the owner
	inside   whose = "inside" // has fields of both; they are listed too
	ofNobody whose = "nobody" // not shown
)

// Each field of what is shown of a server is one's. A new one fails the test until it is listed: is
// it still so when the server's claim has let it go?
var (
	statusFields = map[string]whose{
		"Phase": ofServer, "Settings": ofServer, "AcceptedIdentity": ofServer, "ForgetTPM": ofServer, "Firmware": ofServer, "Discovered": ofServer, "Discovery": ofServer,
		"Reboots": ofServer, "ReadAt": ofServer, "Stale": ofServer, "SafeStop": ofServer, "Detection": ofServer, "Detects": ofServer,
		"SafeStopReason": ofServer, "Restore": ofServer, "Architecture": ofServer, "HeardArchitecture": ofServer, "SharedMACs": ofServer,
		"BootEnv": ofOwner, "BootEnvOf": ofOwner, "OS": ofOwner, "Claim": ofOwner, "EvidenceClass": ofOwner, "Secrets": ofOwner,
		"Report":     inside,
		"Conditions": ofServer, // decide and the hub's rooms raise them by the present owner
	}
	reportFields = map[string]whose{
		"Server": ofServer, "Observation": ofServer, "ReadAge": ofServer, "Power": ofServer, "PowerEpoch": ofServer, "StoppedSince": ofServer,
		"PendingRebootSince": ofServer, "Holds": ofServer, "Requests": ofServer, "Identity": ofServer, "Architecture": ofServer, "Conditions": ofServer, "Account": ofServer,
		"Safety": ofServer, "Unexpected": ofServer, "Unreleased": ofServer, "IdentityChange": ofServer, "TPM": ofServer, "Guard": ofServer, "Awaits": ofServer,
		"LastPoweredOn": ofOwner, "OwnerUID": ofOwner, "BootGeneration": ofOwner, "ArtefactsLocal": ofOwner, "Attempt": ofOwner,
		"Released": ofOwner, "Firmware": ofOwner, "Env": ofOwner, "Fallback": ofOwner,
		"Provisioned": ofNobody,
		"Image":       inside,
	}
	imageFields = map[string]whose{
		"State": ofOwner, "Message": ofOwner, "At": ofOwner, "OwnerUID": ofOwner,
		"InventoryAt": ofServer, "Digest": ofServer, "Bytes": ofServer, "Inventory": ofServer, // what the machine is
	}
)

// filled is a value none of whose fields is zero. A text is the owner's UID.
func filled(v reflect.Value, uid string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), uid)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)))
			return
		}
		for _, field := range v.Fields() {
			filled(field, uid)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), uid)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, uid)
		filled(elem, uid)
		v.SetMapIndex(key, elem)
	case reflect.String:
		v.SetString(uid)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	default:
		panic("filled: a " + v.Kind().String())
	}
}

func former(t *testing.T) ServerStatus {
	t.Helper()
	var s ServerStatus
	filled(reflect.ValueOf(&s).Elem(), "former")
	s.Report.Unreleased = nil
	return s
}

// compare holds what is left of a struct to whose each field is. gone is that the owner has let
// the server go.
func compare(t *testing.T, what string, fields map[string]whose, before, after any, gone bool) {
	t.Helper()
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	var names []string
	for i := range b.NumField() {
		name := b.Type().Field(i).Name
		names = append(names, name)
		got, was := a.Field(i).Interface(), b.Field(i).Interface()
		switch fields[name] {
		case "":
			t.Errorf("%s.%s: is it of the server, or of its owner? List it", what, name)
		case ofServer:
			if !reflect.DeepEqual(got, was) {
				t.Errorf("%s.%s is of the server, and became %+v", what, name, got)
			}
		case ofNobody:
			if !a.Field(i).IsZero() {
				t.Errorf("%s.%s is shown: %+v", what, name, got)
			}
		case ofOwner:
			if gone && !a.Field(i).IsZero() || !gone && !reflect.DeepEqual(got, was) {
				t.Errorf("%s.%s is of the owner, and became %+v", what, name, got)
			}
		case inside:
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			t.Errorf("%s has no field %s", what, name)
		}
	}
}

// What is of the owner is shown as long as he has the server, and nothing of it afterwards; what is
// of the server stays, and the report that others read is left alone.
func TestStatusOfOwner(t *testing.T) {
	for _, row := range []struct {
		name, owner string
		gone        bool
	}{
		{"of the owner", "former", false},
		{"of nobody", "", true},
	} {
		before := former(t)
		after := before.Of(row.owner)
		compare(t, row.name+": status", statusFields, before, after, row.gone)
		compare(t, row.name+": report", reportFields, *before.Report, *after.Report, row.gone)
		compare(t, row.name+": image", imageFields, *before.Report.Image, *after.Report.Image, row.gone)
		if again := former(t); !reflect.DeepEqual(before, again) {
			t.Errorf("%s: what others read was changed", row.name)
		}
	}
}

// The next owner, of whom the agent has not heard, sees nothing of the one before but the server;
// what the hub says of himself is his.
func TestStatusOfNextOwner(t *testing.T) {
	before := former(t)
	after := before.Of("next")
	compare(t, "report", reportFields, *before.Report, *after.Report, true)
	compare(t, "image", imageFields, *before.Report.Image, *after.Report.Image, true)
	if after.Claim == "" {
		t.Error("it has no claim")
	}
	// The agent has heard of him; the boot and the report of the one before are no news of him.
	before.Report.OwnerUID = "next"
	after = before.Of("next")
	if r := after.Report; r.Attempt != nil || r.Image.State != "" || r.OwnerUID != "next" || !r.ArtefactsLocal {
		t.Errorf("%+v", r)
	}
}

// An owner that the hub does not know, and that did not let the server go, has it still.
func TestStatusOfUnreleased(t *testing.T) {
	before := former(t)
	before.Report.Unreleased = &UnreleasedReport{OwnerUID: "former"}
	if r := before.Of("").Report; r.Attempt == nil || r.Image.State == "" {
		t.Errorf("%+v", r)
	}
	if (ServerStatus{}).Of("").Report != nil {
		t.Error("a report of a server that was never read")
	}
	before.Report.Image, before.Report.Unreleased = &protocol.ImageReport{State: protocol.ProbeBooted, OwnerUID: "former"}, nil
	if i := before.Of("").Report.Image; i != nil {
		t.Errorf("a report without an inventory leaves %+v", i)
	}
}
