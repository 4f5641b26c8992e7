package main

import (
	"encoding/json"
	"fmt"

	"host.internal/contract/host_cap_fs_write"
	"host.internal/contract/host_cap_http"
	"host.internal/contract/host_cap_mcp"
	"host.internal/contract/host_cap_process"
	"host.internal/contract/host_cap_state"
	"host.internal/contract/host_tool_background"
	"host.internal/contract/host_tool_file_changes"
	"host.internal/contract/host_tool_types"
	"host.internal/contract/wit/types"
	"host.internal/host"
)

type values struct {
	Path string   `json:"path"`
	Text string   `json:"text"`
	Argv []string `json:"argv"`
	Url  string   `json:"url"`
	Key  string   `json:"key"`
	Tool string   `json:"tool"`
}

func main() {}

func init() {
	made := func(name, capability, scope string, call func(values) (string, error)) host.Tool {
		answer := func(values values) (host.Answer, error) {
			text, err := call(values)
			return host.Answer{Text: text}, err
		}
		return host.Tool{
			Name:        name,
			Description: "Tries.",
			InputSchema: `{"type": "object"}`,
			Annotations: host.MostCareful,
			Needs:       []host.Need{{Capability: capability, Scope: scope, Reason: "to try it"}},
			Call:        host.Function(answer),
		}
	}
	note := made("note", "fs-write", "*", note)
	note.Preview = previewed(func(values values) host.Confirmation {
		edit := host_tool_types.FileDifference{Path: values.Path, Unified: "+" + values.Text, Proposed: values.Text}
		return host_tool_types.MakeConfirmationEdit(edit)
	})
	note.Revise = func(arguments json.RawMessage, text string) (any, error) {
		var values values
		err := json.Unmarshal(arguments, &values)
		return map[string]string{"path": values.Path, "text": text}, err
	}
	run := made("run", "process", "*", run)
	run.Preview = previewed(func(values values) host.Confirmation {
		return host_tool_types.MakeConfirmationExec(host_tool_types.ExecConfirmation{Argv: values.Argv, Directory: "."})
	})
	talk := made("talk", "process", "*", talk)
	talk.Preview = previewed(func(values values) host.Confirmation {
		host_tool_background.AnnounceTerminal()
		return host_tool_types.MakeConfirmationExec(host_tool_types.ExecConfirmation{Argv: values.Argv, Directory: "."})
	})
	patch := made("patch", "fs-write", "*", func(values) (string, error) { return "patched", nil })
	patch.Preview = previewed(func(values values) host.Confirmation {
		made := host_tool_types.FileDifference{Path: values.Path, Unified: "+new", Proposed: "new"}
		host_tool_file_changes.Write(made)
		host_tool_file_changes.Remove("old.txt")
		return host_tool_types.MakeConfirmationCall()
	})
	fetch := made("fetch", "http", "*", fetch)
	fetch.Preview = previewed(func(values values) host.Confirmation {
		request := host_tool_types.HttpRequest{Method: "GET", Url: values.Url}
		info := host_tool_types.InfoConfirmation{Text: "fetches", Requests: []host_tool_types.HttpRequest{request}}
		return host_tool_types.MakeConfirmationInfo(info)
	})
	host.Export(note, run, talk, patch, fetch, made("keep", "state", "write", keep), made("ask", "mcp", "*", ask))
}

func previewed(shown func(values) host.Confirmation) func(json.RawMessage) (*host.Confirmation, error) {
	return func(arguments json.RawMessage) (*host.Confirmation, error) {
		var values values
		err := json.Unmarshal(arguments, &values)
		confirmation := shown(values)
		return &confirmation, err
	}
}

func note(values values) (string, error) {
	_, err := host.FsWrite(host_cap_fs_write.Write(values.Path, []byte(values.Text), host_cap_fs_write.MakeExpectedAbsent()))
	return "noted", err
}

func run(values values) (string, error) {
	command := host_cap_process.Command{Argv: values.Argv, Directory: ".", Stdin: types.Some([]byte("from stdin"))}
	child, err := host.Process(host_cap_process.Spawn(command))
	if err != nil {
		return "", err
	}
	var printed []byte
	for {
		chunk, more := child.Read().Get()
		if !more {
			code, _ := child.Wait().Code.Get()
			return fmt.Sprintf("%s, %d", printed, code), nil
		}
		printed = append(printed, chunk.Data...)
	}
}

func talk(values values) (string, error) {
	command := host_cap_process.Command{Argv: values.Argv, Directory: "."}
	size := host_cap_process.TerminalSize{Columns: 40, Rows: 10}
	id, err := host.Process(host_cap_process.SpawnTerminal(command, size))
	if err != nil {
		return "", err
	}
	input := []host_tool_background.Input{
		host_tool_background.MakeInputText("typed"),
		host_tool_background.MakeInputKey(values.Key),
	}
	if _, err := host.Terminal(host_tool_background.Send(id, input)); err != nil {
		return "", err
	}
	screen, err := host.Terminal(host_tool_background.View(id, 300, 10000))
	return fmt.Sprintf("%s%d", screen.Text, screen.Columns), err
}

func fetch(values values) (string, error) {
	request := host_cap_http.Request{
		Method:    "GET",
		Url:       values.Url,
		Headers:   []types.Tuple2[string, string]{{F0: "x-who", F1: "me"}},
		SizeLimit: 1000,
	}
	answer, err := host.Http(host_cap_http.FetchWithSecrets(request, []string{"token"}))
	return fmt.Sprintf("%d %s", answer.Status, answer.Body), err
}

func keep(values values) (string, error) {
	found, err := host.State(host_cap_state.Get(values.Key))
	if err != nil {
		return "", err
	}
	before := "nothing"
	if item, kept := found.Get(); kept {
		before = string(item.Value)
	}
	if _, err := host.State(host_cap_state.Put(values.Key, []byte("kept"), host_cap_state.MakeExpectedAnything())); err != nil {
		return "", err
	}
	greeting := "no greeting"
	_, err = host.Config("greeting", &greeting)
	return before + ", " + greeting, err
}

func ask(values values) (string, error) {
	answer, err := host.Mcp(host_cap_mcp.Call("files", values.Tool, `{"a":1}`))
	if err != nil {
		return "", err
	}
	return answer.Content[0].Text(), nil
}
