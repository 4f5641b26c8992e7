/* What stands behind host.h: the four functions that the contract exports, JSON, and answers. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How deep JSON may be nested: the reader calls itself, and its stack is small. */
#define MAX_DEPTH 64

static void *allocate(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        host_tool_context_log(HOST_TOOL_CONTEXT_LEVEL_ERROR, &(host_string){(uint8_t *)"panic: out of memory", 20});
        __builtin_trap();
    }
    return memory;
}

/* ---- Text ---- */

host_string host_literal(const char *text) { return (host_string){(uint8_t *)text, strlen(text)}; }

static host_string copied(const char *text) {
    host_buffer buffer = {0};
    host_add_bytes(&buffer, text, strlen(text));
    return host_finish(&buffer);
}

static void reserve(host_buffer *buffer, size_t more) {
    if (more > buffer->capacity - buffer->len) {
        size_t capacity = buffer->capacity * 2 > buffer->len + more ? buffer->capacity * 2 : buffer->len + more;
        char *data = allocate(capacity);
        if (buffer->len) memcpy(data, buffer->data, buffer->len);
        free(buffer->data);
        *buffer = (host_buffer){data, buffer->len, capacity};
    }
}

void host_add_bytes(host_buffer *buffer, const void *bytes, size_t len) {
    reserve(buffer, len + 1);
    if (len) memcpy(buffer->data + buffer->len, bytes, len);
    buffer->len += len;
}

static void add_format(host_buffer *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (len < 0) return;
    reserve(buffer, (size_t)len + 1);
    vsnprintf(buffer->data + buffer->len, (size_t)len + 1, format, arguments);
    buffer->len += (size_t)len;
}

void host_add(host_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_format(buffer, format, arguments);
    va_end(arguments);
}

void host_add_json_string(host_buffer *buffer, host_string text) {
    host_add_bytes(buffer, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte == '"' || byte == '\\') host_add(buffer, "\\%c", byte);
        else if (byte < 0x20) host_add(buffer, "\\u%04x", byte);
        else host_add_bytes(buffer, &byte, 1);
    }
    host_add_bytes(buffer, "\"", 1);
}

host_string host_finish(host_buffer *buffer) {
    reserve(buffer, 1);
    host_string text = {(uint8_t *)buffer->data, buffer->len};
    *buffer = (host_buffer){0};
    return text;
}

/* Makes a host_string named `text` of the format and what follows it. */
#define FORMATTED(text)                   \
    host_buffer made = {0};               \
    va_list arguments;                    \
    va_start(arguments, format);          \
    add_format(&made, format, arguments); \
    va_end(arguments);                    \
    host_string text = host_finish(&made)

host_string host_format(const char *format, ...) {
    FORMATTED(text);
    return text;
}

/* By the table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing past U+10FFFF. */
bool host_is_utf8(const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len;) {
        uint8_t lead = bytes[i++];
        if (lead < 0x80) continue;
        if (lead < 0xC2 || lead > 0xF4) return false;
        size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        if (len - i < more) return false;
        uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (bytes[i] < low || bytes[i] > high) return false;
        for (size_t k = 1; k < more; k++)
            if ((bytes[i + k] & 0xC0) != 0x80) return false;
        i += more;
    }
    return true;
}

/* ---- JSON. The host hands over UTF-8 that it has parsed itself; what is wrong here is answered, never trusted. ---- */

typedef struct {
    const char *at, *end;
} reader;

static void skip_space(reader *in) {
    while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at) in->at++;
}

static bool take(reader *in, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(in->end - in->at) < len || memcmp(in->at, word, len) != 0) return false;
    in->at += len;
    return true;
}

static bool read_hex(reader *in, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, in->at++) {
        if (in->at == in->end) return false;
        char c = *in->at;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return false;
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

static bool add_escape(reader *in, host_buffer *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = in->at < in->end && *in->at ? strchr(from, *in->at) : NULL;
    if (known) {
        in->at++;
        host_add_bytes(out, to + (known - from), 1);
        return true;
    }
    uint32_t code, low;
    if (!take(in, "u") || !read_hex(in, &code)) return false;
    if (code >= 0xD800 && code < 0xE000) {
        if (code >= 0xDC00 || !take(in, "\\u") || !read_hex(in, &low) || low < 0xDC00 || low > 0xDFFF) return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    uint8_t bytes[4];
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6) bytes[i] = (uint8_t)(0x80 | (code & 0x3F));
    bytes[0] = (uint8_t)(code | (len == 1 ? 0 : 0xF00u >> len & 0xFF));
    host_add_bytes(out, bytes, len);
    return true;
}

static bool read_string(reader *in, host_string *text) {
    host_buffer out = {0};
    if (!take(in, "\"")) return false;
    while (in->at < in->end && *in->at != '"') {
        uint8_t byte = (uint8_t)*in->at++;
        if (byte < 0x20) return false;
        if (byte != '\\') host_add_bytes(&out, &byte, 1);
        else if (!add_escape(in, &out)) return false;
    }
    *text = host_finish(&out);
    return take(in, "\"");
}

static host_json *read_value(reader *in, int depth);

static bool read_members(reader *in, host_json *parent, int depth) {
    bool object = parent->kind == HOST_OBJECT;
    const char *end = object ? "}" : "]";
    host_json **last = &parent->first;
    skip_space(in);
    if (take(in, end)) return true;
    do {
        host_string key = {0};
        skip_space(in);
        if (object && !read_string(in, &key)) return false;
        skip_space(in);
        if (object && !take(in, ":")) return false;
        host_json *value = read_value(in, depth + 1);
        if (!value) return false;
        value->key = key;
        *last = value;
        last = &value->next;
    } while (take(in, ","));
    return take(in, end);
}

static bool read_number(reader *in, double *number) {
    char digits[64], *end;
    size_t len = 0;
    while (in->at + len < in->end && len < sizeof digits - 1 && in->at[len] && strchr("+-.eE0123456789", in->at[len])) len++;
    memcpy(digits, in->at, len);
    digits[len] = 0;
    *number = strtod(digits, &end);
    in->at += len;
    return len > 0 && *end == 0;
}

static host_json *read_value(reader *in, int depth) {
    if (depth > MAX_DEPTH) return NULL;
    host_json *value = allocate(sizeof *value);
    *value = (host_json){0};
    bool good = true;
    skip_space(in);
    if (take(in, "null")) value->kind = HOST_NULL;
    else if (take(in, "true")) value->kind = HOST_TRUE;
    else if (take(in, "false")) value->kind = HOST_FALSE;
    else if (take(in, "{")) { value->kind = HOST_OBJECT; good = read_members(in, value, depth); }
    else if (take(in, "[")) { value->kind = HOST_ARRAY; good = read_members(in, value, depth); }
    else if (in->at < in->end && *in->at == '"') { value->kind = HOST_STRING; good = read_string(in, &value->string); }
    else { value->kind = HOST_NUMBER; good = read_number(in, &value->number); }
    skip_space(in);
    return good ? value : NULL;
}

const host_json *host_json_parse(host_string text) {
    reader in = {(const char *)text.ptr, (const char *)text.ptr + text.len};
    const host_json *value = read_value(&in, 0);
    return in.at == in.end ? value : NULL;
}

const host_json *host_json_get(const host_json *object, const char *key) {
    if (!object || object->kind != HOST_OBJECT) return NULL;
    const host_json *found = NULL;
    for (const host_json *member = object->first; member; member = member->next)
        if (member->key.len == strlen(key) && memcmp(member->key.ptr, key, member->key.len) == 0) found = member;
    return found;
}

bool host_get_string(const host_json *arguments, const char *name, host_string *value, host_failure *failure) {
    const host_json *found = host_json_get(arguments, name);
    if (!found || found->kind != HOST_STRING)
        return host_fail(failure, HOST_INVALID_ARGUMENTS, "`%s` is missing or no string", name);
    *value = found->string;
    return true;
}

bool host_get_integer(const host_json *arguments, const char *name, int64_t otherwise, int64_t *value,
                      host_failure *failure) {
    const host_json *found = host_json_get(arguments, name);
    *value = otherwise;
    if (!found) return true;
    double number = found->number;
    if (found->kind != HOST_NUMBER || number < -9007199254740991.0 || number > 9007199254740991.0 ||
        (double)(int64_t)number != number)
        return host_fail(failure, HOST_INVALID_ARGUMENTS, "`%s` is no integer", name);
    *value = (int64_t)number;
    return true;
}

/* ---- Answers ---- */

bool host_answer(host_outcome *outcome, host_string text, host_string structured) {
    *outcome = (host_outcome){0};
    outcome->content.ptr = allocate(sizeof *outcome->content.ptr);
    outcome->content.len = 1;
    outcome->content.ptr[0].tag = HOST_TOOL_TYPES_CONTENT_TEXT;
    outcome->content.ptr[0].val.text = text;
    outcome->structured.is_some = structured.ptr != NULL;
    outcome->structured.val = structured;
    return true;
}

bool host_fail(host_failure *failure, uint8_t kind, const char *format, ...) {
    FORMATTED(words);
    failure->tag = kind;
    /* The cases with words share one place. */
    failure->val.failed = words;
    return false;
}

/* ---- The line to the host ---- */

void host_log(host_tool_context_level_t level, const char *format, ...) {
    FORMATTED(line);
    host_tool_context_log(level, &line);
}

void host_emit(const char *format, ...) {
    FORMATTED(text);
    host_tool_context_emit(&text);
}

void host_progress(uint64_t done, uint64_t total, const char *message) {
    host_string words = host_literal(message);
    host_tool_context_progress(done, total ? &total : NULL, &words);
}

bool host_should_stop(void) { return host_tool_context_should_stop(); }

const host_json *host_config(const char *key) {
    host_string name = host_literal(key), value;
    return host_tool_context_config(&name, &value) ? host_json_parse(value) : NULL;
}

/* A host that sees a trap takes the line before it, marked like this, for the reason. */
void host_panic(const char *format, ...) {
    FORMATTED(words);
    host_string line = host_format("panic: %.*s", (int)words.len, (const char *)words.ptr);
    host_tool_context_log(HOST_TOOL_CONTEXT_LEVEL_ERROR, &line);
    __builtin_trap();
}

/* ---- Capabilities ---- */

#if defined HOST_FS_READ || defined HOST_FS_WRITE || defined HOST_PROCESS || defined HOST_HTTP || defined HOST_STATE || defined HOST_MCP
static bool fail_with(host_failure *failure, uint8_t kind, host_string words) {
    failure->tag = kind;
    failure->val.failed = words;
    return false;
}

/* A refusal is passed on as it came. */
static bool fail_denied(host_failure *failure, const host_cap_types_denial_t *denial) {
    failure->tag = HOST_TOOL_TYPES_FAILURE_DENIED;
    failure->val.denied = (host_tool_types_denial_t){denial->capability, denial->wanted, denial->help};
    return false;
}
#endif

#ifdef HOST_FS_READ
bool host_read_file(host_string path, contract_list_u8_t *data, host_failure *failure) {
    host_cap_fs_read_whole_t whole;
    host_cap_fs_read_error_t error;
    if (!host_cap_fs_read_read_whole(&path, &whole, &error)) return host_fail_fs_read(&error, failure);
    *data = whole.data;
    return true;
}

bool host_fail_fs_read(const host_cap_fs_read_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_FS_READ_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_FS_READ_ERROR_NOT_FOUND: return fail_with(failure, HOST_NOT_FOUND, error->val.not_found);
    case HOST_CAP_FS_READ_ERROR_TOO_LARGE:
        return host_fail(failure, HOST_FAILED, "it has %llu bytes, which is too large", (unsigned long long)error->val.too_large);
    case HOST_CAP_FS_READ_ERROR_IS_DIRECTORY:
    case HOST_CAP_FS_READ_ERROR_NOT_DIRECTORY:
    case HOST_CAP_FS_READ_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    default: return fail_with(failure, HOST_FAILED, error->val.io);
    }
}
#endif

#ifdef HOST_FS_WRITE
bool host_fail_fs_write(const host_cap_fs_write_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_FS_WRITE_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_FS_WRITE_ERROR_NOT_FOUND: return fail_with(failure, HOST_NOT_FOUND, error->val.not_found);
    case HOST_CAP_FS_WRITE_ERROR_CHANGED:
        return host_fail(failure, HOST_CONFLICT, "what is there is not what was expected");
    case HOST_CAP_FS_WRITE_ERROR_EXISTS: return fail_with(failure, HOST_CONFLICT, error->val.exists);
    case HOST_CAP_FS_WRITE_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    case HOST_CAP_FS_WRITE_ERROR_TOO_LARGE:
        return host_fail(failure, HOST_FAILED, "it has %llu bytes, which is too large", (unsigned long long)error->val.too_large);
    default: return fail_with(failure, HOST_FAILED, error->val.io);
    }
}
#endif

#ifdef HOST_PROCESS
bool host_fail_process(const host_cap_process_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_PROCESS_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_PROCESS_ERROR_NOT_FOUND: return fail_with(failure, HOST_NOT_FOUND, error->val.not_found);
    case HOST_CAP_PROCESS_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    default: return fail_with(failure, HOST_FAILED, error->val.io);
    }
}

bool host_fail_terminal(const host_tool_background_terminal_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_TOOL_BACKGROUND_TERMINAL_ERROR_NOT_FOUND:
        return host_fail(failure, HOST_NOT_FOUND, "there is no such program in the background");
    case HOST_TOOL_BACKGROUND_TERMINAL_ERROR_NO_TERMINAL:
        return host_fail(failure, HOST_FAILED, "this program has no terminal");
    case HOST_TOOL_BACKGROUND_TERMINAL_ERROR_ENDED: return host_fail(failure, HOST_CONFLICT, "this program has ended");
    case HOST_TOOL_BACKGROUND_TERMINAL_ERROR_DENIED: {
        /* The same words, of another interface. */
        host_cap_types_denial_t denial = {error->val.denied.capability, error->val.denied.wanted, error->val.denied.help};
        return fail_denied(failure, &denial);
    }
    case HOST_TOOL_BACKGROUND_TERMINAL_ERROR_BUSY:
        return host_fail(failure, HOST_UNAVAILABLE, "this program does not read what is typed");
    default: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    }
}
#endif

#ifdef HOST_HTTP
bool host_fail_http(const host_cap_http_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_HTTP_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_HTTP_ERROR_REDIRECT_DENIED: return fail_denied(failure, &error->val.redirect_denied);
    case HOST_CAP_HTTP_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    case HOST_CAP_HTTP_ERROR_TIMED_OUT: return host_fail(failure, HOST_UNAVAILABLE, "the time limit passed");
    default: return fail_with(failure, HOST_UNAVAILABLE, error->val.unavailable);
    }
}
#endif

#ifdef HOST_STATE
bool host_fail_state(const host_cap_state_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_STATE_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_STATE_ERROR_CHANGED:
        return host_fail(failure, HOST_CONFLICT, "what is kept is not what was expected");
    case HOST_CAP_STATE_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    case HOST_CAP_STATE_ERROR_FULL: return fail_with(failure, HOST_FAILED, error->val.full);
    default: return fail_with(failure, HOST_FAILED, error->val.io);
    }
}
#endif

#ifdef HOST_MCP
bool host_fail_mcp(const host_cap_mcp_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_MCP_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_MCP_ERROR_NOT_FOUND: return fail_with(failure, HOST_NOT_FOUND, error->val.not_found);
    case HOST_CAP_MCP_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    case HOST_CAP_MCP_ERROR_UNAVAILABLE: return fail_with(failure, HOST_UNAVAILABLE, error->val.unavailable);
    case HOST_CAP_MCP_ERROR_CANCELLED: return host_fail(failure, HOST_CANCELLED, "");
    default: return fail_with(failure, HOST_FAILED, error->val.failed);
    }
}
#endif

#ifdef HOST_TOOLS
bool host_fail_tools(const host_cap_tools_error_t *error, host_failure *failure) {
    switch (error->tag) {
    case HOST_CAP_TOOLS_ERROR_DENIED: return fail_denied(failure, &error->val.denied);
    case HOST_CAP_TOOLS_ERROR_NOT_FOUND: return fail_with(failure, HOST_NOT_FOUND, error->val.not_found);
    case HOST_CAP_TOOLS_ERROR_INVALID: return fail_with(failure, HOST_INVALID_ARGUMENTS, error->val.invalid);
    case HOST_CAP_TOOLS_ERROR_REFUSED: return fail_with(failure, HOST_FAILED, error->val.refused);
    case HOST_CAP_TOOLS_ERROR_UNAVAILABLE: return fail_with(failure, HOST_UNAVAILABLE, error->val.unavailable);
    case HOST_CAP_TOOLS_ERROR_CANCELLED: return host_fail(failure, HOST_CANCELLED, "");
    default: return fail_with(failure, HOST_FAILED, error->val.failed);
    }
}
#endif

/* ---- What the contract exports ---- */

static contract_option_string_t optional(const char *text) {
    contract_option_string_t value = {.is_some = text != NULL};
    if (text) value.val = copied(text);
    return value;
}

void exports_host_tool_tool_describe(exports_host_tool_tool_list_tool_def_t *all) {
    all->len = host_tool_count;
    all->ptr = allocate(host_tool_count * sizeof *all->ptr);
    for (size_t i = 0; i < host_tool_count; i++) {
        const host_tool *tool = &host_tools[i];
        size_t needs = 0;
        while (tool->needs && tool->needs[needs].capability) needs++;
        host_tool_types_capability_need_t *list = allocate(needs * sizeof *list);
        for (size_t k = 0; k < needs; k++)
            list[k] = (host_tool_types_capability_need_t){
                copied(tool->needs[k].capability), copied(tool->needs[k].scope), copied(tool->needs[k].reason)};
        all->ptr[i] = (exports_host_tool_tool_tool_def_t){
            .name = copied(tool->name),
            .title = optional(tool->title),
            .description = copied(tool->description),
            .input_schema = copied(tool->input_schema),
            .output_schema = optional(tool->output_schema),
            .annotations = {tool->read_only, tool->destructive, tool->idempotent, tool->open_world},
            .capabilities = {list, needs},
        };
    }
}

static const host_tool *find(const exports_host_tool_tool_tool_call_t *call, const host_json **arguments,
                             host_failure *failure) {
    *arguments = host_json_parse(call->arguments);
    for (size_t i = 0; i < host_tool_count; i++) {
        const char *name = host_tools[i].name;
        if (strlen(name) != call->tool.len || memcmp(name, call->tool.ptr, call->tool.len) != 0) continue;
        if (*arguments && (*arguments)->kind == HOST_OBJECT) return &host_tools[i];
        host_fail(failure, HOST_INVALID_ARGUMENTS, "the arguments are no JSON object");
        return NULL;
    }
    host_fail(failure, HOST_INVALID_ARGUMENTS, "this plugin has no tool `%.*s`", (int)call->tool.len,
              (const char *)call->tool.ptr);
    return NULL;
}

static bool only_reads(const host_tool *tool) {
    for (const host_need *need = tool->needs; need && need->capability; need++)
        if (strcmp(need->capability, "fs-read") != 0 &&
            !(strcmp(need->capability, "state") == 0 && strcmp(need->scope, "read") == 0))
            return false;
    return true;
}

bool exports_host_tool_tool_preview(exports_host_tool_tool_tool_call_t *call,
                                    exports_host_tool_tool_option_confirmation_t *answer, host_failure *failure) {
    const host_json *arguments;
    const host_tool *tool = find(call, &arguments, failure);
    if (!tool) return false;
    *answer = (exports_host_tool_tool_option_confirmation_t){.is_some = !only_reads(tool)};
    answer->val.tag = HOST_TOOL_TYPES_CONFIRMATION_CALL;
    return !tool->preview || tool->preview(arguments, &answer->is_some, &answer->val, failure);
}

bool exports_host_tool_tool_revise(exports_host_tool_tool_tool_call_t *call, host_string *text, host_string *answer,
                                   host_failure *failure) {
    const host_json *arguments;
    const host_tool *tool = find(call, &arguments, failure);
    if (!tool) return false;
    if (tool->revise) return tool->revise(arguments, *text, answer, failure);
    return host_fail(failure, HOST_INVALID_ARGUMENTS, "a call of `%.*s` can be allowed or refused, not changed",
                     (int)call->tool.len, (const char *)call->tool.ptr);
}

bool exports_host_tool_tool_call(exports_host_tool_tool_tool_call_t *call, host_outcome *outcome,
                                 host_failure *failure) {
    const host_json *arguments;
    const host_tool *tool = find(call, &arguments, failure);
    return tool && tool->call(arguments, outcome, failure);
}
