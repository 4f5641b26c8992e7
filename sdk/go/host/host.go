// Package host is the SDK of `host` for plugins in Go.
//
// A plugin is a package `main` whose `init` calls [Export] with its tools; `main` stays empty and never runs. The function
// of a tool takes the arguments and returns an [Answer] or an error. The model reads a [Failure] as it is, and any other
// error as `failed`.
//
// The packages `host.internal/contract/host_cap_…` have the functions of the capabilities, generated from the folder `wit`
// when the plugin is built. [FsRead] and its like turn what they return into a value and an error.
//
// Each call has an instance of the component, and so a memory, to itself. What a capability returned is kept until the
// call ends.
package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"host.internal/contract/export_host_tool_tool"
	tool "host.internal/contract/host_tool_types"
	"host.internal/contract/wit/types"
	_ "host.internal/contract/wit_exports"
)

// Tool is a tool: its description for the model, and its code.
type Tool struct {
	Name        string
	Title       string
	Description string
	// InputSchema is a JSON Schema of the arguments, always of the type `object`.
	InputSchema string
	// OutputSchema is a JSON Schema of `Answer.Structured`, or empty.
	OutputSchema string
	// Annotations are MostCareful, ReadOnly or your own.
	Annotations Annotations
	// Needs are the capabilities, as plugin.toml declares them.
	Needs []Need
	// Call is the function of the tool. Function makes one from a function that takes a struct.
	Call func(arguments json.RawMessage) (Answer, error)
	// Preview returns what the call would do, or nil if the user need not be asked. Without it the user is asked about the
	// name and the arguments, if the tool does more than read.
	Preview func(arguments json.RawMessage) (*Confirmation, error)
	// Revise returns the arguments of the call that does what the user wrote instead of the proposed text (of an edit) or of
	// the command line (of an exec). Without it the user can allow or reject a call, not change it.
	Revise func(arguments json.RawMessage, text string) (any, error)
}

// Need is one capability that a tool needs, and why.
type Need struct {
	Capability, Scope, Reason string
}

// Annotations are hints; the host schedules by them and never trusts them.
type Annotations = tool.Annotations

// Confirmation is what a call would do; MakeConfirmationEdit and its like of the contract's types make one.
type Confirmation = tool.Confirmation

var (
	// MostCareful assumes the worst of a tool.
	MostCareful = Annotations{Destructive: true, OpenWorld: true}
	// ReadOnly is a tool that changes nothing; its calls run side by side.
	ReadOnly = Annotations{ReadOnly: true, Idempotent: true}
)

// Answer is the outcome of a call that succeeded.
type Answer struct {
	// Text is for the model.
	Text string
	// Structured is the same as a value that becomes JSON, for a tool with an output schema.
	Structured any
	// Summary is one line for the user.
	Summary string
}

// Function makes a Tool.Call from a function that takes the arguments as a struct. A field that is left out keeps its zero
// value; use a pointer where that means something else.
func Function[A any](work func(arguments A) (Answer, error)) func(json.RawMessage) (Answer, error) {
	return func(arguments json.RawMessage) (Answer, error) {
		var parsed A
		if err := json.Unmarshal(arguments, &parsed); err != nil {
			return Answer{}, InvalidArguments("%v", err)
		}
		return work(parsed)
	}
}

// Export offers the tools. Call it once, in an `init`.
func Export(tools ...Tool) {
	export_host_tool_tool.Exported = plugin(tools)
}

type plugin []Tool

func optional(text string) types.Option[string] {
	if text == "" {
		return types.None[string]()
	}
	return types.Some(text)
}

func (tools plugin) Describe() []tool.ToolDef {
	described := make([]tool.ToolDef, 0, len(tools))
	for _, one := range tools {
		needs := make([]tool.CapabilityNeed, 0, len(one.Needs))
		for _, need := range one.Needs {
			needs = append(needs, tool.CapabilityNeed{Name: need.Capability, Scope: need.Scope, Reason: need.Reason})
		}
		described = append(described, tool.ToolDef{
			Name:         one.Name,
			Title:        optional(one.Title),
			Description:  one.Description,
			InputSchema:  one.InputSchema,
			OutputSchema: optional(one.OutputSchema),
			Annotations:  one.Annotations,
			Capabilities: needs,
		})
	}
	return described
}

func (tools plugin) Preview(call tool.ToolCall) types.Result[types.Option[tool.Confirmation], tool.Failure] {
	return answered(tools, call, func(one Tool, arguments json.RawMessage) (types.Option[tool.Confirmation], error) {
		var shown *Confirmation
		var err error
		if one.Preview != nil {
			shown, err = one.Preview(arguments)
		} else if !onlyReads(one.Needs) {
			call := tool.MakeConfirmationCall()
			shown = &call
		}
		if shown == nil {
			return types.None[tool.Confirmation](), err
		}
		return types.Some(*shown), err
	})
}

func (tools plugin) Revise(call tool.ToolCall, text string) types.Result[string, tool.Failure] {
	return answered(tools, call, func(one Tool, arguments json.RawMessage) (string, error) {
		if one.Revise == nil {
			return "", InvalidArguments("a call of `%s` can be allowed or refused, not changed", one.Name)
		}
		revised, err := one.Revise(arguments, text)
		if err != nil {
			return "", err
		}
		written, err := json.Marshal(revised)
		return string(written), err
	})
}

func (tools plugin) Call(call tool.ToolCall) types.Result[tool.Outcome, tool.Failure] {
	return answered(tools, call, func(one Tool, arguments json.RawMessage) (tool.Outcome, error) {
		answer, err := one.Call(arguments)
		if err != nil {
			return tool.Outcome{}, err
		}
		outcome := tool.Outcome{Content: []tool.Content{tool.MakeContentText(valid(answer.Text))}}
		if answer.Structured != nil {
			written, err := json.Marshal(answer.Structured)
			if err != nil {
				return tool.Outcome{}, err
			}
			outcome.Structured = types.Some(string(written))
		}
		if answer.Summary != "" {
			outcome.Display = types.Some(tool.MakeDisplaySummary(valid(answer.Summary)))
		}
		return outcome, nil
	})
}

// answered finds the tool and makes a result of what its function returns, or of its panic.
func answered[T any](
	tools plugin, call tool.ToolCall, work func(Tool, json.RawMessage) (T, error),
) (result types.Result[T, tool.Failure]) {
	defer func() {
		if panicked := recover(); panicked != nil {
			Log(LevelError, fmt.Sprintf("%v\n%s", panicked, debug.Stack()))
			result = types.Err[T](Failed("%v", panicked).Case)
		}
	}()
	for _, one := range tools {
		if one.Name != call.Tool {
			continue
		}
		value, err := work(one, json.RawMessage(call.Arguments))
		if err == nil {
			return types.Ok[T, tool.Failure](value)
		}
		var failure *Failure
		if !errors.As(err, &failure) {
			failure = Failed("%v", err)
		}
		return types.Err[T](failure.Case)
	}
	return types.Err[T](InvalidArguments("this plugin has no tool `%s`", call.Tool).Case)
}

// valid replaces what is not UTF-8: a string of Go may hold any bytes, and one of the contract may not.
func valid(text string) string {
	return strings.ToValidUTF8(text, "\uFFFD")
}

func onlyReads(needs []Need) bool {
	for _, need := range needs {
		if need.Capability != "fs-read" && (need.Capability != "state" || need.Scope != "read") {
			return false
		}
	}
	return true
}
