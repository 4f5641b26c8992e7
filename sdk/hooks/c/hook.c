// A safety checker: a hook for `host` that sees each call, denies what destroys and asks about secrets.

#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What no call is to contain.
static const char *const DESTROYS[] = {"rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd"};

/// What a user is to be asked about.
static const char *const SECRETS[] = {".env", "id_rsa", "credentials"};

/// Returns the first of these words that a text contains, or NULL.
static const char *found(const contract_string_t *text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        for (size_t at = 0; at + length <= text->len; at++) {
            if (memcmp(text->ptr + at, words[i], length) == 0) {
                return words[i];
            }
        }
    }
    return NULL;
}

/// Decides, with a reason that names the word.
static void decide(exports_host_hook_handler_answer_t *answer, uint8_t decision, const char *word, const char *why) {
    char reason[128];
    snprintf(reason, sizeof reason, "`%s` %s", word, why);
    answer->decision.is_some = true;
    answer->decision.val = decision;
    contract_string_dup(&answer->reason, reason);
}

bool exports_host_hook_handler_handle(exports_host_hook_handler_event_t *event,
                                      exports_host_hook_handler_answer_t *answer, contract_string_t *error) {
    (void)error;
    memset(answer, 0, sizeof *answer);
    if (event->moment != HOST_HOOK_TYPES_MOMENT_PRE_TOOL_USE || !event->call.is_some) {
        return true;
    }
    const contract_string_t *arguments = &event->call.val.arguments;
    const char *word = found(arguments, DESTROYS, sizeof DESTROYS / sizeof *DESTROYS);
    if (word) {
        decide(answer, HOST_HOOK_TYPES_DECISION_DENY, word, "destroys what cannot be restored");
        return true;
    }
    word = found(arguments, SECRETS, sizeof SECRETS / sizeof *SECRETS);
    if (word) {
        decide(answer, HOST_HOOK_TYPES_DECISION_ASK, word, "may hold secrets");
    }
    return true;
}
