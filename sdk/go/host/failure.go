package host

import (
	"fmt"

	tool "host.internal/contract/host_tool_types"
)

// Failure is an error that the model reads: one of the cases of the contract.
type Failure struct {
	// Case is the case, as the contract defines it.
	Case tool.Failure
	text string
}

func (failure *Failure) Error() string {
	return failure.text
}

func failed(made func(string) tool.Failure, format string, values []any) *Failure {
	text := valid(fmt.Sprintf(format, values...))
	return &Failure{made(text), text}
}

// InvalidArguments is for arguments that meet the schema and are still invalid.
func InvalidArguments(format string, values ...any) *Failure {
	return failed(tool.MakeFailureInvalidArguments, format, values)
}

// NotFound is for something that the arguments name and that does not exist.
func NotFound(format string, values ...any) *Failure {
	return failed(tool.MakeFailureNotFound, format, values)
}

// Conflict is for a file or another thing that is not as the call assumed.
func Conflict(format string, values ...any) *Failure {
	return failed(tool.MakeFailureConflict, format, values)
}

// Unavailable is for what may work later.
func Unavailable(format string, values ...any) *Failure {
	return failed(tool.MakeFailureUnavailable, format, values)
}

// Cancelled is for a call that was told to stop, and stopped; the text is what it had by then.
func Cancelled(format string, values ...any) *Failure {
	return failed(tool.MakeFailureCancelled, format, values)
}

// Failed is for anything else.
func Failed(format string, values ...any) *Failure {
	return failed(tool.MakeFailureFailed, format, values)
}

// denied passes on a denial of a capability.
func denied(capability, wanted, help string) *Failure {
	return &Failure{tool.MakeFailureDenied(tool.Denial{Capability: capability, Wanted: wanted, Help: help}), help}
}
