package sim

// service is what all hand-made trees have: the service root and the services
// under it.
func service(system, manager string) resources {
	return resources{
		uriRoot: {
			"@odata.type": "#ServiceRoot.v1_10_0.ServiceRoot", "Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.13.1",
			"Systems": link(uriSystems), "Managers": link(uriManagers), "Chassis": link(uriChassis),
			"SessionService": link(uriSessionSv), "EventService": link(uriEvents), "Tasks": link(uriTasks),
			"UpdateService": link(uriUpdate), "Links": object{"Sessions": link(uriSessions)},
		},
		uriSystems:  collection("ComputerSystemCollection", system),
		uriManagers: collection("ManagerCollection", manager),
		uriChassis:  collection("ChassisCollection"),
		manager: {
			"@odata.type": "#Manager.v1_12_0.Manager", "Id": "1", "Name": "Manager", "ManagerType": "BMC",
			"DateTime": "2026-01-01T00:00:00Z", "Links": object{"ManagerForServers": links(system)},
		},
		uriSessionSv: {
			"@odata.type": "#SessionService.v1_1_8.SessionService", "Id": "SessionService", "Name": "Session Service",
			"ServiceEnabled": true, "SessionTimeout": 300, "Sessions": link(uriSessions),
		},
		uriSessions: collection("SessionCollection"),
		uriEvents: {
			"@odata.type": "#EventService.v1_7_1.EventService", "Id": "EventService", "Name": "Event Service",
			"ServiceEnabled": true, "DeliveryRetryAttempts": deliveryAttempts, "ServerSentEventUri": uriEvents + "/SSE",
			"Subscriptions": link(uriEvents + "/Subscriptions"),
			"Actions":       object{"#EventService.SubmitTestEvent": object{"target": uriEvents + "/Actions/EventService.SubmitTestEvent"}},
		},
		uriEvents + "/Subscriptions": collection("EventDestinationCollection"),
		uriTasks: {
			"@odata.type": "#TaskService.v1_1_4.TaskService", "Id": "TaskService", "Name": "Tasks", "Tasks": link(uriTasks + "/Tasks"),
		},
		uriTasks + "/Tasks": collection("TaskCollection"),
		uriUpdate: {
			"@odata.type": "#UpdateService.v1_8_0.UpdateService", "Id": "UpdateService", "Name": "Update Service",
			"Actions": object{"#UpdateService.SimpleUpdate": object{"target": uriUpdate + "/Actions/UpdateService.SimpleUpdate"}},
		},
	}
}

func collection(kind string, members ...string) object {
	c := object{"@odata.type": "#" + kind + "." + kind, "Name": kind}
	setMembers(c, members)
	return c
}

// boot is a Boot object with all that an override needs. An empty mode leaves
// Mode out, no targets the list of them.
func boot(target, mode string, targets ...string) object {
	b := object{bootTarget: target, bootEnabled: "Disabled"}
	if mode != "" {
		b[bootMode] = mode
	}
	if len(targets) > 0 {
		b[bootAllowed] = targets
	}
	return b
}

// actions are a system's actions, with the reset types inline or, if there is a
// URI for it, by ActionInfo.
func actions(target, info string, inline ...string) object {
	reset := object{"target": target}
	if info != "" {
		reset[resetInfo] = info
	}
	if len(inline) > 0 {
		reset[resetValues] = inline
	}
	return object{"#ComputerSystem.Reset": reset}
}

func resetActionInfo(kinds ...string) object {
	return object{
		"@odata.type": "#ActionInfo.v1_1_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
		"Parameters": []object{{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": kinds}},
	}
}

// slot adds a virtual media slot, with or without actions, to a collection.
func (r resources) slot(in, id string, act bool) {
	uri := in + "/" + id
	s := object{
		"@odata.type": "#VirtualMedia.v1_4_0.VirtualMedia", "Id": id, "Name": "Virtual Media", "MediaTypes": []string{"CD", "DVD"},
		"Image": nil, "ImageName": nil, "Inserted": false, "ConnectedVia": "NotConnected",
	}
	if act {
		s["Actions"] = object{
			"#VirtualMedia.InsertMedia": object{"target": uri + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  object{"target": uri + "/Actions/VirtualMedia.EjectMedia"},
		}
	}
	r[uri] = s
	r.join(in, "VirtualMediaCollection", uri)
}

// join adds a member to a collection, and makes the collection.
func (r resources) join(in, kind, uri string) {
	c := r[in]
	if c == nil {
		c = collection(kind)
		r[in] = c
	}
	members, _ := c["Members"].([]any)
	c["Members"], c["Members@odata.count"] = append(members, link(uri)), len(members)+1
}

// port is an Ethernet interface of a system.
type port struct{ id, mac, name string }

func (r resources) ports(system string, ports ...port) {
	in := system + "/EthernetInterfaces"
	for _, p := range ports {
		r[in+"/"+p.id] = object{
			"@odata.type": "#EthernetInterface.v1_8_0.EthernetInterface", "Id": p.id, "Name": p.name,
			"MACAddress": p.mac, "PermanentMACAddress": p.mac, "Status": object{"State": "Enabled"},
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
		r[uri] = object{
			"@odata.type": "#BootOption.v1_0_4.BootOption", "Id": o.reference, "Name": o.name, "BootOptionEnabled": true,
			"BootOptionReference": o.reference, "DisplayName": o.name, "UefiDevicePath": o.path,
		}
		r.join(in, "BootOptionCollection", uri)
		order = append(order, o.reference)
	}
	b := r[system]["Boot"].(object)
	b["BootOptions"], b[bootOrder] = link(in), order
}

// adapter adds a chassis with a network adapter that has one function.
func (r resources) adapter(chassis, adapter, function, mac string) {
	box := uriChassis + "/" + chassis
	adapters := box + "/NetworkAdapters"
	card := adapters + "/" + adapter
	functions := card + "/NetworkDeviceFunctions"
	r.join(uriChassis, "ChassisCollection", box)
	r[box] = object{
		"@odata.type": "#Chassis.v1_17_0.Chassis", "Id": chassis, "Name": "Chassis", "ChassisType": "RackMount",
		"NetworkAdapters": link(adapters),
	}
	r.join(adapters, "NetworkAdapterCollection", card)
	r[card] = object{
		"@odata.type": "#NetworkAdapter.v1_8_0.NetworkAdapter", "Id": adapter, "Name": "Network adapter",
		"NetworkDeviceFunctions": link(functions),
	}
	r.join(functions, "NetworkDeviceFunctionCollection", functions+"/"+function)
	r[functions+"/"+function] = object{
		"@odata.type": "#NetworkDeviceFunction.v1_7_0.NetworkDeviceFunction", "Id": function, "Name": "Network device function",
		"Ethernet": object{"MACAddress": mac, "PermanentMACAddress": mac},
	}
}
