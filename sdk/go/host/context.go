package host

import (
	"encoding/json"

	"host.internal/contract/host_tool_context"
	"host.internal/contract/wit/types"
)

// The levels of a line in the host's log.
const (
	LevelTrace = host_tool_context.LevelTrace
	LevelDebug = host_tool_context.LevelDebug
	LevelInfo  = host_tool_context.LevelInfo
	LevelWarn  = host_tool_context.LevelWarn
	LevelError = host_tool_context.LevelError
)

// Log writes a line to the host's log.
func Log(level host_tool_context.Level, message string) {
	host_tool_context.Log(level, valid(message))
}

// Emit shows live output to the user; it is not part of the answer.
func Emit(output string) {
	host_tool_context.Emit(valid(output))
}

// Progress reports how far the call is, in a unit that the message names. A total of 0 means that it is not known.
func Progress(done, total uint64, message string) {
	known := types.None[uint64]()
	if total > 0 {
		known = types.Some(total)
	}
	host_tool_context.Progress(done, known, valid(message))
}

// ShouldStop returns whether the call was cancelled and should end soon.
func ShouldStop() bool {
	return host_tool_context.ShouldStop()
}

// Config reads a value of the plugin's own configuration into a variable; it returns false if the value is not set.
func Config(key string, value any) (bool, error) {
	text, found := host_tool_context.Config(key).Get()
	if !found {
		return false, nil
	}
	return true, json.Unmarshal([]byte(text), value)
}
