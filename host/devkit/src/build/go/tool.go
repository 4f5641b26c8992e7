// Package export_host_tool_tool is what the generated code calls for each export; the binding sets it.
package export_host_tool_tool

import (
	"host.internal/contract/host_tool_types"
	"host.internal/contract/wit/types"
)

// Plugin has one function for each export.
type Plugin interface {
	Describe() []host_tool_types.ToolDef
	Preview(host_tool_types.ToolCall) types.Result[types.Option[host_tool_types.Confirmation], host_tool_types.Failure]
	Revise(host_tool_types.ToolCall, string) types.Result[string, host_tool_types.Failure]
	Call(host_tool_types.ToolCall) types.Result[host_tool_types.Outcome, host_tool_types.Failure]
}

// Exported is the plugin, set by an `init` of the package `main`.
var Exported Plugin

func Describe() []host_tool_types.ToolDef {
	if Exported == nil {
		panic("no tool: call host.Export in an `init` of the package `main`, since `main` itself does not run")
	}
	return Exported.Describe()
}

func Preview(call host_tool_types.ToolCall) types.Result[types.Option[host_tool_types.Confirmation], host_tool_types.Failure] {
	return Exported.Preview(call)
}

func Revise(call host_tool_types.ToolCall, text string) types.Result[string, host_tool_types.Failure] {
	return Exported.Revise(call, text)
}

func Call(call host_tool_types.ToolCall) types.Result[host_tool_types.Outcome, host_tool_types.Failure] {
	return Exported.Call(call)
}
