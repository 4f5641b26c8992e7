#include "host.h"

#include <stdlib.h>

static host_string of(const host_json *arguments, const char *name) {
    const host_json *found = host_json_get(arguments, name);
    return found ? found->string : host_literal("");
}

static contract_list_string_t argv_of(const host_json *arguments) {
    contract_list_string_t argv = {calloc(16, sizeof(host_string)), 0};
    for (const host_json *one = host_json_get(arguments, "argv")->first; one && argv.len < 16; one = one->next)
        argv.ptr[argv.len++] = one->string;
    return argv;
}

static bool note_preview(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure) {
    (void)failure;
    host_string text = of(arguments, "text");
    *asks = true;
    what->tag = HOST_TOOL_TYPES_CONFIRMATION_EDIT;
    what->val.edit.path = of(arguments, "path");
    what->val.edit.unified = host_format("+%.*s", (int)text.len, (const char *)text.ptr);
    what->val.edit.proposed = text;
    return true;
}

static bool note_revise(const host_json *arguments, host_string text, host_string *answer, host_failure *failure) {
    (void)failure;
    host_buffer json = {0};
    host_add_bytes(&json, "{\"path\":", 8);
    host_add_json_string(&json, of(arguments, "path"));
    host_add_bytes(&json, ",\"text\":", 8);
    host_add_json_string(&json, text);
    host_add_bytes(&json, "}", 1);
    *answer = host_finish(&json);
    return true;
}

static bool note(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_string path = of(arguments, "path"), text = of(arguments, "text");
    contract_list_u8_t content = {text.ptr, text.len};
    host_cap_fs_write_expected_t expected = {.tag = HOST_CAP_FS_WRITE_EXPECTED_ABSENT};
    host_cap_fs_write_written_t written;
    host_cap_fs_write_error_t error;
    if (!host_cap_fs_write_write(&path, &content, &expected, &written, &error)) return host_fail_fs_write(&error, failure);
    return host_answer(outcome, host_literal("noted"), (host_string){0});
}

static bool run_preview(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure) {
    (void)failure;
    *asks = true;
    what->tag = HOST_TOOL_TYPES_CONFIRMATION_EXEC;
    what->val.exec.argv = argv_of(arguments);
    what->val.exec.directory = host_format(".");
    return true;
}

static bool run(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_string input = host_literal("from stdin");
    host_cap_process_command_t command = {.argv = argv_of(arguments), .directory = host_literal(".")};
    command.stdin_.is_some = true;
    command.stdin_.val.ptr = input.ptr;
    command.stdin_.val.len = input.len;
    host_cap_process_own_child_t child;
    host_cap_process_error_t error;
    if (!host_cap_process_spawn(&command, &child, &error)) return host_fail_process(&error, failure);
    host_buffer printed = {0};
    host_cap_process_chunk_t chunk;
    while (host_cap_process_method_child_read(host_cap_process_borrow_child(child), &chunk))
        host_add_bytes(&printed, chunk.data.ptr, chunk.data.len);
    host_cap_process_exit_t ended;
    host_cap_process_method_child_wait(host_cap_process_borrow_child(child), &ended);
    host_cap_process_child_drop_own(child);
    host_string text = host_finish(&printed);
    return host_answer(outcome, host_format("%.*s, %d", (int)text.len, (const char *)text.ptr, (int)ended.code.val),
                       (host_string){0});
}

static bool talk_preview(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure) {
    host_tool_background_announce_terminal();
    return run_preview(arguments, asks, what, failure);
}

static bool talk(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_cap_process_command_t command = {.argv = argv_of(arguments), .directory = host_literal(".")};
    host_cap_process_terminal_size_t size = {.columns = 40, .rows = 10};
    host_string id;
    host_cap_process_error_t refused;
    if (!host_cap_process_spawn_terminal(&command, &size, &id, &refused)) return host_fail_process(&refused, failure);
    host_tool_background_input_t typed[] = {
        {.tag = HOST_TOOL_BACKGROUND_INPUT_TEXT, .val = {.text = host_literal("typed")}},
        {.tag = HOST_TOOL_BACKGROUND_INPUT_KEY, .val = {.key = of(arguments, "key")}},
    };
    host_tool_background_list_input_t input = {typed, 2};
    host_tool_background_terminal_error_t error;
    host_tool_background_screen_t screen;
    if (!host_tool_background_send(&id, &input, &error)) return host_fail_terminal(&error, failure);
    if (!host_tool_background_view(&id, 300, 10000, &screen, &error)) return host_fail_terminal(&error, failure);
    return host_answer(outcome, host_format("%.*s%d", (int)screen.text.len, (const char *)screen.text.ptr,
                                            (int)screen.columns), (host_string){0});
}

static bool patch_preview(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure) {
    (void)failure;
    host_tool_file_changes_file_difference_t made = {of(arguments, "path"), host_literal("+new"), host_literal("new")};
    host_string gone = host_literal("old.txt");
    host_tool_file_changes_write(&made);
    host_tool_file_changes_remove(&gone);
    *asks = true;
    what->tag = HOST_TOOL_TYPES_CONFIRMATION_CALL;
    return true;
}

static bool patch(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    (void)arguments;
    (void)failure;
    return host_answer(outcome, host_literal("patched"), (host_string){0});
}

static bool fetch_preview(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure) {
    (void)failure;
    *asks = true;
    what->tag = HOST_TOOL_TYPES_CONFIRMATION_INFO;
    what->val.info.text = host_format("fetches");
    what->val.info.requests.ptr = calloc(1, sizeof *what->val.info.requests.ptr);
    what->val.info.requests.len = 1;
    what->val.info.requests.ptr[0].method = host_format("GET");
    what->val.info.requests.ptr[0].url = of(arguments, "url");
    what->val.info.writes.ptr = NULL;
    what->val.info.writes.len = 0;
    return true;
}

static bool fetch(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    contract_tuple2_string_string_t who = {host_literal("x-who"), host_literal("me")};
    host_cap_http_request_t request = {.method = host_literal("GET"), .url = of(arguments, "url"), .size_limit = 1000};
    request.headers.ptr = &who;
    request.headers.len = 1;
    host_string token = host_literal("token");
    contract_list_string_t secrets = {&token, 1};
    host_cap_http_response_t answer;
    host_cap_http_error_t error;
    if (!host_cap_http_fetch_with_secrets(&request, &secrets, &answer, &error)) return host_fail_http(&error, failure);
    return host_answer(outcome, host_format("%d %.*s", answer.status, (int)answer.body.len, (const char *)answer.body.ptr),
                       (host_string){0});
}

static bool keep(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_string key = of(arguments, "key"), value = host_literal("kept"), version;
    contract_list_u8_t kept = {value.ptr, value.len};
    host_cap_state_option_item_t before;
    host_cap_state_expected_t expected = {.tag = HOST_CAP_STATE_EXPECTED_ANYTHING};
    host_cap_state_error_t error;
    if (!host_cap_state_get(&key, &before, &error)) return host_fail_state(&error, failure);
    if (!host_cap_state_put(&key, &kept, &expected, &version, &error)) return host_fail_state(&error, failure);
    const host_json *greeting = host_config("greeting");
    host_string says = greeting ? greeting->string : host_literal("no greeting"), was = host_literal("nothing");
    if (before.is_some) was = (host_string){before.val.value.ptr, before.val.value.len};
    return host_answer(outcome, host_format("%.*s, %.*s", (int)was.len, (const char *)was.ptr, (int)says.len,
                                            (const char *)says.ptr), (host_string){0});
}

static bool ask(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_string server = host_literal("files"), tool = of(arguments, "tool"), given = host_literal("{\"a\":1}");
    host_cap_mcp_answer_t answer;
    host_cap_mcp_error_t error;
    if (!host_cap_mcp_call(&server, &tool, &given, &answer, &error)) return host_fail_mcp(&error, failure);
    host_string said = answer.content.len ? answer.content.ptr[0].val.text : host_literal("nothing");
    return host_answer(outcome, host_format("%.*s", (int)said.len, (const char *)said.ptr), (host_string){0});
}

#define NEEDS(name, scope) (const host_need[]){{name, scope, "to try it"}, {0}}
#define SCHEMA "{\"type\": \"object\"}"

const host_tool host_tools[] = {
    {.name = "note", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("fs-write", "*"),
     .call = note, .preview = note_preview, .revise = note_revise},
    {.name = "run", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("process", "*"),
     .call = run, .preview = run_preview},
    {.name = "talk", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("process", "*"),
     .call = talk, .preview = talk_preview},
    {.name = "patch", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("fs-write", "*"),
     .call = patch, .preview = patch_preview},
    {.name = "fetch", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("http", "*"),
     .call = fetch, .preview = fetch_preview},
    {.name = "keep", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("state", "write"), .call = keep},
    {.name = "ask", .description = "Tries.", .input_schema = SCHEMA, .needs = NEEDS("mcp", "*"), .call = ask},
};
const size_t host_tool_count = sizeof host_tools / sizeof *host_tools;
