/* What a plugin for `host` is written with in C.
 *
 * A plugin is the table `host_tools`: for each tool its description and the function that does it. Everything else here
 * is for writing that function: reading its JSON arguments, answering, failing, and the capabilities.
 *
 * Memory: each call has an instance of the component to itself, and all of it goes when the call ends. Nothing needs to
 * be freed. Whatever an answer holds must come from `malloc`, as everything made by the functions here does.
 *
 * `contract.h` is generated from the folder `wit` when the plugin is built, with the capabilities that plugin.toml
 * declares; its functions can be called as they are. Each declared capability also defines HOST_FS_READ, HOST_FS_WRITE,
 * HOST_PROCESS, HOST_HTTP, HOST_STATE or HOST_MCP. */
#ifndef HOST_H
#define HOST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract.h"

typedef contract_string_t host_string;                     /* UTF-8 without a NUL at its end */
typedef exports_host_tool_tool_outcome_t host_outcome;     /* how a call ended well */
typedef exports_host_tool_tool_failure_t host_failure;     /* how it failed: a variant of the contract */
typedef exports_host_tool_tool_confirmation_t host_confirmation;

/* ---- JSON, as it comes in ---- */

typedef enum { HOST_NULL, HOST_FALSE, HOST_TRUE, HOST_NUMBER, HOST_STRING, HOST_ARRAY, HOST_OBJECT } host_json_kind;

typedef struct host_json {
    host_json_kind kind;
    double number;             /* of a HOST_NUMBER */
    host_string string;        /* of a HOST_STRING */
    host_string key;           /* of a member of an object */
    struct host_json *first;   /* of an array or object */
    struct host_json *next;    /* of an element or member */
} host_json;

/* The value of a JSON text; NULL when it is malformed or nested deeper than 64. */
const host_json *host_json_parse(host_string text);

/* A member of an object; NULL when it has none of that name, or is no object. */
const host_json *host_json_get(const host_json *object, const char *key);

/* Arguments by name. Each fails with invalid-arguments when there is something of another kind; an argument that may be
 * left out has a value for that, one that must be there has none. */
bool host_get_string(const host_json *arguments, const char *name, host_string *value, host_failure *failure);
bool host_get_integer(const host_json *arguments, const char *name, int64_t otherwise, int64_t *value,
                      host_failure *failure);

/* ---- Text, as it goes out ---- */

typedef struct {
    char *data;
    size_t len, capacity;
} host_buffer;                 /* starts as {0} */

void host_add(host_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void host_add_bytes(host_buffer *buffer, const void *bytes, size_t len);
void host_add_json_string(host_buffer *buffer, host_string text);   /* with quotes */
host_string host_finish(host_buffer *buffer);

host_string host_literal(const char *text);                         /* refers to the text */
host_string host_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool host_is_utf8(const uint8_t *bytes, size_t len);

/* ---- Answers. Both return what the function of a tool returns. ---- */

/* Text for the model; with the same as JSON text where the tool has an output schema, else {0}. */
bool host_answer(host_outcome *outcome, host_string text, host_string structured);

/* `kind` is one of EXPORTS_HOST_TOOL_TOOL_FAILURE_*, of those that carry words. */
bool host_fail(host_failure *failure, uint8_t kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define HOST_INVALID_ARGUMENTS HOST_TOOL_TYPES_FAILURE_INVALID_ARGUMENTS
#define HOST_NOT_FOUND HOST_TOOL_TYPES_FAILURE_NOT_FOUND
#define HOST_CONFLICT HOST_TOOL_TYPES_FAILURE_CONFLICT
#define HOST_UNAVAILABLE HOST_TOOL_TYPES_FAILURE_UNAVAILABLE
#define HOST_CANCELLED HOST_TOOL_TYPES_FAILURE_CANCELLED
#define HOST_FAILED HOST_TOOL_TYPES_FAILURE_FAILED

/* ---- The running call's line to the host ---- */

void host_log(host_tool_context_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void host_emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
void host_progress(uint64_t done, uint64_t total, const char *message);   /* a total of 0 is unknown */
bool host_should_stop(void);
/* A value of the plugin's own configuration; NULL when it was not set. */
const host_json *host_config(const char *key);
_Noreturn void host_panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Capabilities: what the host answered as a failure of the call. Each returns false. ---- */

#ifdef HOST_FS_READ
/* A whole file of at most 20 MiB. */
bool host_read_file(host_string path, contract_list_u8_t *data, host_failure *failure);
bool host_fail_fs_read(const host_cap_fs_read_error_t *error, host_failure *failure);
#endif
#ifdef HOST_FS_WRITE
bool host_fail_fs_write(const host_cap_fs_write_error_t *error, host_failure *failure);
#endif
#ifdef HOST_PROCESS
bool host_fail_process(const host_cap_process_error_t *error, host_failure *failure);
/* What `send`, `view` and `resize` of host:tool/background answered. */
bool host_fail_terminal(const host_tool_background_terminal_error_t *error, host_failure *failure);
#endif
#ifdef HOST_HTTP
bool host_fail_http(const host_cap_http_error_t *error, host_failure *failure);
#endif
#ifdef HOST_STATE
bool host_fail_state(const host_cap_state_error_t *error, host_failure *failure);
#endif
#ifdef HOST_MCP
bool host_fail_mcp(const host_cap_mcp_error_t *error, host_failure *failure);
#endif
#ifdef HOST_TOOLS
bool host_fail_tools(const host_cap_tools_error_t *error, host_failure *failure);
#endif

/* ---- The tools ---- */

typedef struct {
    const char *capability;    /* "fs-read", … as in plugin.toml */
    const char *scope;         /* in the words of a --grant; "*" asks for whatever the user gives */
    const char *reason;        /* in one line for the user who is asked */
} host_need;

typedef struct {
    const char *name;
    const char *title;
    const char *description;
    const char *input_schema;
    const char *output_schema;                        /* NULL for none */
    bool read_only, destructive, idempotent, open_world;
    const host_need *needs;                           /* ends with {0}; NULL for none */
    bool (*call)(const host_json *arguments, host_outcome *outcome, host_failure *failure);
    /* What a call would do, for the user who is asked; sets `asks` where there is something to ask. NULL: asked by
     * name and arguments as soon as the tool needs more than reading. What it says is freed by the binding: take
     * `host_format` for a text and not `host_literal`. */
    bool (*preview)(const host_json *arguments, bool *asks, host_confirmation *what, host_failure *failure);
    /* The arguments, a JSON object, of the call that does what the user made of this one: `text` stands in the place of
     * what the preview proposed (of an edit) or of the command line (of an exec), and is freed too. NULL: no change. */
    bool (*revise)(const host_json *arguments, host_string text, host_string *answer, host_failure *failure);
} host_tool;

extern const host_tool host_tools[];
extern const size_t host_tool_count;

#endif
