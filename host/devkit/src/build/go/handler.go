// Package export_host_hook_handler is what the generated code calls for each event; the hook sets it.
package export_host_hook_handler

import (
	"host.internal/contract/host_hook_types"
	"host.internal/contract/wit/types"
)

// Handler answers an event, or returns why it failed. An `init` of the package `main` sets it, since `main` does not run.
var Handler func(host_hook_types.Event) types.Result[host_hook_types.Answer, string]

func Handle(event host_hook_types.Event) types.Result[host_hook_types.Answer, string] {
	return Handler(event)
}
