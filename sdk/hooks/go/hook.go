// A safety checker: a hook for `host` that sees each call, denies what destroys and asks about secrets.
package main

import (
	"fmt"
	"strings"

	"host.internal/contract/export_host_hook_handler"
	"host.internal/contract/host_hook_types"
	"host.internal/contract/wit/types"
	_ "host.internal/contract/wit_exports"
)

// destroys is what no call is to contain.
var destroys = []string{"rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd"}

// secrets is what a user is to be asked about.
var secrets = []string{".env", "id_rsa", "credentials"}

func init() {
	export_host_hook_handler.Handler = handle
}

// A hook is what `init` sets; this does not run.
func main() {}

func handle(event host_hook_types.Event) types.Result[host_hook_types.Answer, string] {
	var answer host_hook_types.Answer
	if call, found := event.Call.Get(); found && event.Moment == host_hook_types.MomentPreToolUse {
		if word := first(destroys, call.Arguments); word != "" {
			answer.Decision = types.Some(host_hook_types.DecisionDeny)
			answer.Reason = fmt.Sprintf("`%s` destroys what cannot be restored", word)
		} else if word := first(secrets, call.Arguments); word != "" {
			answer.Decision = types.Some(host_hook_types.DecisionAsk)
			answer.Reason = fmt.Sprintf("`%s` may hold secrets", word)
		}
	}
	return types.Ok[host_hook_types.Answer, string](answer)
}

// first returns the first of these words that a text contains, or nothing.
func first(words []string, text string) string {
	for _, word := range words {
		if strings.Contains(text, word) {
			return word
		}
	}
	return ""
}
