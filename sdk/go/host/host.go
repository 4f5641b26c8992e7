// Package host is what a plugin for `host` is written with in Go.
//
// A plugin is a package `main` whose `init` calls [Export] with its tools; `main` stays empty and never runs. The function
// of a tool takes the arguments and returns an [Answer], or an error: a [Failure] as it is, any other one as `failed`.
//
// The packages `host.internal/contract/host_cap_…` have the functions of the capabilities, generated from the folder `wit`
// when the plugin is built. [FsRead] and its like turn what they return into a value and an error.
//
// Memory: each call has an instance of the component to itself. What a capability handed over is kept until the call ends.
package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"host.internal/contract/export_host_tool_tool"
	tool "host.internal/contract/host_tool_types"
	"host.internal/contract/wit/types"
	_ "host.internal/contract/wit_exports"
)

// Tool is what the model is told of a tool, and the code behind it.
type Tool struct {
	Name        string
	Title       string
	Description string
	// InputSchema is a JSON Schema of the arguments, always of the type `object`.
	InputSchema string
	// OutputSchema is one of `Answer.Structured`, or empty.
	OutputSchema string
	// Annotations are MostCareful, or ReadOnly, or your own.
	Annotations Annotations
	// Needs are the capabilities, as plugin.toml declares them.
	Needs []Need
	// Call does it. Function makes one of a function that takes a struct.
	Call func(arguments json.RawMessage) (Answer, error)
	// Preview returns what the call would do, or nil when there is nothing to ask. Without it a call of a tool that needs
	// more than reading is asked about by name and arguments.
	Preview func(arguments json.RawMessage) (*Confirmation, error)
	// Revise returns the arguments of the call that does what the user wrote in the place of what the preview proposed (of
	// an edit) or of the command line (of an exec). Without it a call is allowed or refused.
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

// Answer is how a call ended well.
type Answer struct {
	// Text is for the model.
	Text string
	// Structured is the same as a value that JSON has, for a tool with an output schema.
	Structured any
	// Summary is one line for the user.
	Summary string
}

// Function takes the arguments as a struct. A field that may be left out is a pointer, or has its zero for that.
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
		outcome := tool.Outcome{Content: []tool.Content{tool.MakeContentText(answer.Text)}}
		if answer.Structured != nil {
			written, err := json.Marshal(answer.Structured)
			if err != nil {
				return tool.Outcome{}, err
			}
			outcome.Structured = types.Some(string(written))
		}
		if answer.Summary != "" {
			outcome.Display = types.Some(tool.MakeDisplaySummary(answer.Summary))
		}
		return outcome, nil
	})
}

// answered finds the tool and turns whatever the work returns, a panic too, into an answer.
func answered[T any](
	tools plugin, call tool.ToolCall, work func(Tool, json.RawMessage) (T, error),
) (result types.Result[T, tool.Failure]) {
	defer func() {
		if panicked := recover(); panicked != nil {
			Log(LevelError, fmt.Sprintf("%v\n%s", panicked, debug.Stack()))
			result = types.Err[T](tool.MakeFailureFailed(fmt.Sprint(panicked)))
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
			failure = &Failure{tool.MakeFailureFailed(err.Error()), err.Error()}
		}
		return types.Err[T](failure.Case)
	}
	return types.Err[T](tool.MakeFailureInvalidArguments(fmt.Sprintf("this plugin has no tool `%s`", call.Tool)))
}

func onlyReads(needs []Need) bool {
	for _, need := range needs {
		if need.Capability != "fs-read" && (need.Capability != "state" || need.Scope != "read") {
			return false
		}
	}
	return true
}
