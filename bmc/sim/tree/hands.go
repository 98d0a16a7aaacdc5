package tree

// DeliveryAttempts is Redfish DeliveryRetryAttempts of iDRAC and iLO.
const DeliveryAttempts = 3

// service is what all hand-made trees have: the service root and the services
// under it.
func service(system, manager string) resources {
	return resources{
		RootURI: {
			"@odata.type": "#ServiceRoot.v1_10_0.ServiceRoot", "Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.13.1",
			"Systems": Link(SystemsURI), "Managers": Link(ManagersURI), "Chassis": Link(ChassisURI),
			"SessionService": Link(SessionServiceURI), "EventService": Link(EventsURI), "Tasks": Link(TasksURI),
			"UpdateService": Link(UpdateURI), "Links": Object{"Sessions": Link(SessionsURI)},
		},
		SystemsURI:  Collection("ComputerSystemCollection", system),
		ManagersURI: Collection("ManagerCollection", manager),
		ChassisURI:  Collection("ChassisCollection"),
		manager: {
			"@odata.type": "#Manager.v1_12_0.Manager", "Id": "1", "Name": "Manager", "ManagerType": "BMC",
			"DateTime": "2026-01-01T00:00:00Z", "Links": Object{"ManagerForServers": links(system)},
		},
		SessionServiceURI: {
			"@odata.type": "#SessionService.v1_1_8.SessionService", "Id": "SessionService", "Name": "Session Service",
			"ServiceEnabled": true, "SessionTimeout": 300, "Sessions": Link(SessionsURI),
		},
		SessionsURI: Collection("SessionCollection"),
		EventsURI: {
			"@odata.type": "#EventService.v1_7_1.EventService", "Id": "EventService", "Name": "Event Service",
			"ServiceEnabled": true, "DeliveryRetryAttempts": DeliveryAttempts, "ServerSentEventUri": EventsURI + "/SSE",
			"Subscriptions": Link(EventsURI + "/Subscriptions"),
			"Actions":       Object{"#EventService.SubmitTestEvent": Object{"target": EventsURI + "/Actions/EventService.SubmitTestEvent"}},
		},
		EventsURI + "/Subscriptions": Collection("EventDestinationCollection"),
		TasksURI: {
			"@odata.type": "#TaskService.v1_1_4.TaskService", "Id": "TaskService", "Name": "Tasks", "Tasks": Link(TasksURI + "/Tasks"),
		},
		TasksURI + "/Tasks": Collection("TaskCollection"),
		UpdateURI: {
			"@odata.type": "#UpdateService.v1_8_0.UpdateService", "Id": "UpdateService", "Name": "Update Service",
			"Actions": Object{"#UpdateService.SimpleUpdate": Object{"target": UpdateURI + "/Actions/UpdateService.SimpleUpdate"}},
		},
	}
}

// Collection is a resource collection with members.
func Collection(kind string, members ...string) Object {
	c := Object{"@odata.type": "#" + kind + "." + kind, "Name": kind}
	SetMembers(c, members)
	return c
}

// boot is a Boot object with all that an override needs. An empty mode leaves
// Mode out, no targets the list of them.
func boot(target, mode string, targets ...string) Object {
	b := Object{BootTarget: target, BootEnabled: "Disabled"}
	if mode != "" {
		b[BootMode] = mode
	}
	if len(targets) > 0 {
		b[bootAllowed] = targets
	}
	return b
}

// actions are a system's actions, with the reset types inline or, if there is a
// URI for it, by ActionInfo.
func actions(target, info string, inline ...string) Object {
	reset := Object{"target": target}
	if info != "" {
		reset[ResetInfo] = info
	}
	if len(inline) > 0 {
		reset[ResetValues] = inline
	}
	return Object{"#ComputerSystem.Reset": reset}
}

func resetActionInfo(kinds ...string) Object {
	return Object{
		"@odata.type": "#ActionInfo.v1_1_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
		"Parameters": []Object{{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": kinds}},
	}
}

// slot adds a virtual media slot, with or without actions, to a collection.
func (r resources) slot(in, id string, act bool) {
	uri := in + "/" + id
	s := Object{
		"@odata.type": "#VirtualMedia.v1_4_0.VirtualMedia", "Id": id, "Name": "Virtual Media", "MediaTypes": []string{"CD", "DVD"},
		"Image": nil, "ImageName": nil, "Inserted": false, "ConnectedVia": "NotConnected",
	}
	if act {
		s["Actions"] = Object{
			"#VirtualMedia.InsertMedia": Object{"target": uri + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  Object{"target": uri + "/Actions/VirtualMedia.EjectMedia"},
		}
	}
	r[uri] = s
	r.join(in, "VirtualMediaCollection", uri)
}

// join adds a member to a collection, and makes the collection.
func (r resources) join(in, kind, uri string) {
	c := r[in]
	if c == nil {
		c = Collection(kind)
		r[in] = c
	}
	members, _ := c["Members"].([]any)
	c["Members"], c["Members@odata.count"] = append(members, Link(uri)), len(members)+1
}

// port is an Ethernet interface of a system.
type port struct{ id, mac, name string }

func (r resources) ports(system string, ports ...port) {
	in := system + "/EthernetInterfaces"
	for _, p := range ports {
		r[in+"/"+p.id] = Object{
			"@odata.type": "#EthernetInterface.v1_8_0.EthernetInterface", "Id": p.id, "Name": p.name,
			"MACAddress": p.mac, "PermanentMACAddress": p.mac, "Status": Object{"State": "Enabled"},
		}
		r.join(in, "EthernetInterfaceCollection", in+"/"+p.id)
	}
}

// option is a boot option of a system's firmware.
type option struct{ reference, name, path string }

// options adds boot options, and their order, to a system.
func (r resources) options(system string, options ...option) {
	in := system + "/BootOptions"
	var order []string
	for _, o := range options {
		uri := in + "/" + o.reference
		r[uri] = Object{
			"@odata.type": "#BootOption.v1_0_4.BootOption", "Id": o.reference, "Name": o.name, "BootOptionEnabled": true,
			"BootOptionReference": o.reference, "DisplayName": o.name, "UefiDevicePath": o.path,
		}
		r.join(in, "BootOptionCollection", uri)
		order = append(order, o.reference)
	}
	b := r[system]["Boot"].(Object)
	b["BootOptions"], b[BootOrder] = Link(in), order
}

// adapter adds a chassis with a network adapter that has one function.
func (r resources) adapter(chassis, adapter, function, mac string) {
	box := ChassisURI + "/" + chassis
	adapters := box + "/NetworkAdapters"
	card := adapters + "/" + adapter
	functions := card + "/NetworkDeviceFunctions"
	r.join(ChassisURI, "ChassisCollection", box)
	r[box] = Object{
		"@odata.type": "#Chassis.v1_17_0.Chassis", "Id": chassis, "Name": "Chassis", "ChassisType": "RackMount",
		"NetworkAdapters": Link(adapters),
	}
	r.join(adapters, "NetworkAdapterCollection", card)
	r[card] = Object{
		"@odata.type": "#NetworkAdapter.v1_8_0.NetworkAdapter", "Id": adapter, "Name": "Network adapter",
		"NetworkDeviceFunctions": Link(functions),
	}
	r.join(functions, "NetworkDeviceFunctionCollection", functions+"/"+function)
	r[functions+"/"+function] = Object{
		"@odata.type": "#NetworkDeviceFunction.v1_7_0.NetworkDeviceFunction", "Id": function, "Name": "Network device function",
		"Ethernet": Object{"MACAddress": mac, "PermanentMACAddress": mac},
	}
}

// Link is a reference to a resource.
func Link(uri string) Object { return Object{"@odata.id": uri} }

func links(uris ...string) []any {
	list := []any{}
	for _, uri := range uris {
		list = append(list, Link(uri))
	}
	return list
}

// SetMembers puts the members into a collection.
func SetMembers(collection Object, uris []string) {
	collection["Members"] = links(uris...)
	collection["Members@odata.count"] = len(uris)
}
