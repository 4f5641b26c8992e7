package host

import (
	"host.internal/contract/host_cap_fs_read"
	"host.internal/contract/host_cap_fs_write"
	"host.internal/contract/host_cap_http"
	"host.internal/contract/host_cap_mcp"
	"host.internal/contract/host_cap_process"
	"host.internal/contract/host_cap_state"
	"host.internal/contract/host_cap_tools"
	"host.internal/contract/host_tool_background"
	"host.internal/contract/wit/types"
)

// ReadFile reads a whole file, of at most 20 MiB.
func ReadFile(path string) ([]byte, error) {
	whole, err := FsRead(host_cap_fs_read.ReadWhole(path))
	return whole.Data, err
}

// outcome splits what a function of a capability returned; `failure` makes the failure of the call from its error.
func outcome[T, E any](result types.Result[T, E], failure func(E) *Failure) (T, error) {
	if result.IsErr() {
		var nothing T
		return nothing, failure(result.Err())
	}
	return result.Ok(), nil
}

// FsRead turns what a function of `fs-read` returned into a value and an error.
func FsRead[T any](result types.Result[T, host_cap_fs_read.Error]) (T, error) {
	return outcome(result, func(err host_cap_fs_read.Error) *Failure {
		switch err.Tag() {
		case host_cap_fs_read.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_fs_read.ErrorNotFound:
			return NotFound("%s", err.NotFound())
		case host_cap_fs_read.ErrorIsDirectory:
			return InvalidArguments("%s", err.IsDirectory())
		case host_cap_fs_read.ErrorNotDirectory:
			return InvalidArguments("%s", err.NotDirectory())
		case host_cap_fs_read.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_fs_read.ErrorTooLarge:
			return Failed("it has %d bytes, which is too large", err.TooLarge())
		default:
			return Failed("%s", err.Io())
		}
	})
}

// FsWrite turns what a function of `fs-write` returned into a value and an error.
func FsWrite[T any](result types.Result[T, host_cap_fs_write.Error]) (T, error) {
	return outcome(result, func(err host_cap_fs_write.Error) *Failure {
		switch err.Tag() {
		case host_cap_fs_write.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_fs_write.ErrorNotFound:
			return NotFound("%s", err.NotFound())
		case host_cap_fs_write.ErrorChanged:
			return Conflict("what is there is not what was expected")
		case host_cap_fs_write.ErrorExists:
			return Conflict("%s", err.Exists())
		case host_cap_fs_write.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_fs_write.ErrorTooLarge:
			return Failed("it has %d bytes, which is too large", err.TooLarge())
		default:
			return Failed("%s", err.Io())
		}
	})
}

// Process turns what a function of `process` returned into a value and an error.
func Process[T any](result types.Result[T, host_cap_process.Error]) (T, error) {
	return outcome(result, func(err host_cap_process.Error) *Failure {
		switch err.Tag() {
		case host_cap_process.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_process.ErrorNotFound:
			return NotFound("%s", err.NotFound())
		case host_cap_process.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		default:
			return Failed("%s", err.Io())
		}
	})
}

// Terminal turns what `Send`, `View` and `Resize` of `background` returned into a value and an error.
func Terminal[T any](result types.Result[T, host_tool_background.TerminalError]) (T, error) {
	return outcome(result, func(err host_tool_background.TerminalError) *Failure {
		switch err.Tag() {
		case host_tool_background.TerminalErrorNotFound:
			return NotFound("there is no such program in the background")
		case host_tool_background.TerminalErrorNoTerminal:
			return Failed("this program has no terminal")
		case host_tool_background.TerminalErrorEnded:
			return Conflict("this program has ended")
		case host_tool_background.TerminalErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_tool_background.TerminalErrorBusy:
			return Unavailable("this program does not read what is typed")
		default:
			return InvalidArguments("%s", err.Invalid())
		}
	})
}

// Http turns what a function of `http` returned into a value and an error.
func Http[T any](result types.Result[T, host_cap_http.Error]) (T, error) {
	return outcome(result, func(err host_cap_http.Error) *Failure {
		switch err.Tag() {
		case host_cap_http.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_http.ErrorRedirectDenied:
			denial := err.RedirectDenied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_http.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_http.ErrorTimedOut:
			return Unavailable("the time limit passed")
		default:
			return Unavailable("%s", err.Unavailable())
		}
	})
}

// State turns what a function of `state` returned into a value and an error.
func State[T any](result types.Result[T, host_cap_state.Error]) (T, error) {
	return outcome(result, func(err host_cap_state.Error) *Failure {
		switch err.Tag() {
		case host_cap_state.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_state.ErrorChanged:
			return Conflict("what is kept is not what was expected")
		case host_cap_state.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_state.ErrorFull:
			return Failed("%s", err.Full())
		default:
			return Failed("%s", err.Io())
		}
	})
}

// Mcp turns what a function of `mcp` returned into a value and an error.
func Mcp[T any](result types.Result[T, host_cap_mcp.Error]) (T, error) {
	return outcome(result, func(err host_cap_mcp.Error) *Failure {
		switch err.Tag() {
		case host_cap_mcp.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_mcp.ErrorNotFound:
			return NotFound("%s", err.NotFound())
		case host_cap_mcp.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_mcp.ErrorUnavailable:
			return Unavailable("%s", err.Unavailable())
		case host_cap_mcp.ErrorCancelled:
			return Cancelled("")
		default:
			return Failed("%s", err.Failed())
		}
	})
}

// Tools turns what a function of `tools` returned into a value and an error.
func Tools[T any](result types.Result[T, host_cap_tools.Error]) (T, error) {
	return outcome(result, func(err host_cap_tools.Error) *Failure {
		switch err.Tag() {
		case host_cap_tools.ErrorDenied:
			denial := err.Denied()
			return denied(denial.Capability, denial.Wanted, denial.Help)
		case host_cap_tools.ErrorNotFound:
			return NotFound("%s", err.NotFound())
		case host_cap_tools.ErrorInvalid:
			return InvalidArguments("%s", err.Invalid())
		case host_cap_tools.ErrorRefused:
			return Failed("%s", err.Refused())
		case host_cap_tools.ErrorUnavailable:
			return Unavailable("%s", err.Unavailable())
		case host_cap_tools.ErrorCancelled:
			return Cancelled("")
		default:
			return Failed("%s", err.Failed())
		}
	})
}
