/* The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

static const char INPUT[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"The text file, relative to the workspace or absolute.\"},"
    "\"top\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many of the most frequent words to list; 10 if left out.\"}"
    "},\"required\":[\"path\"],\"additionalProperties\":false}";

static const char OUTPUT[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"lines\":{\"type\":\"integer\"},\"words\":{\"type\":\"integer\"},\"bytes\":{\"type\":\"integer\"},"
    "\"top\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"word\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"}},\"required\":[\"word\",\"count\"]}}"
    "},\"required\":[\"lines\",\"words\",\"bytes\",\"top\"]}";

typedef struct {
    const char *start;
    size_t len, count;
} word;

static int by_text(const void *one, const void *other) {
    const word *a = one, *b = other;
    int order = memcmp(a->start, b->start, a->len < b->len ? a->len : b->len);
    return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

static int by_count(const void *one, const void *other) {
    const word *a = one, *b = other;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : by_text(one, other);
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/* The runs of letters in a text that is changed to lower case; answers how many there are. */
static size_t split(char *text, size_t len, word **words) {
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z') text[i] += 'a' - 'A';
    for (size_t i = 0; i < len; i++) count += is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1]));
    word *found = *words = calloc(count + 1, sizeof *found);
    if (!found) host_panic("out of memory");
    for (size_t i = 0; i < len; i++) {
        if (!is_letter(text[i])) continue;
        *found = (word){text + i, 0, 1};
        while (i < len && is_letter(text[i])) found->len++, i++;
        found++;
    }
    return count;
}

static bool word_count(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    host_string path;
    int64_t top;
    contract_list_u8_t file;
    if (!host_get_string(arguments, "path", &path, failure) || !host_get_integer(arguments, "top", 10, &top, failure) ||
        !host_read_file(path, &file, failure))
        return false;
    if (!host_is_utf8(file.ptr, file.len))
        return host_fail(failure, HOST_INVALID_ARGUMENTS, "`%.*s` is not UTF-8 text", (int)path.len, (const char *)path.ptr);

    size_t lines = file.len > 0 && file.ptr[file.len - 1] != '\n';
    for (size_t i = 0; i < file.len; i++) lines += file.ptr[i] == '\n';

    word *words;
    size_t count = split((char *)file.ptr, file.len, &words), different = 0;
    qsort(words, count, sizeof *words, by_text);
    for (size_t i = 0; i < count; i++) {
        if (different && by_text(&words[different - 1], &words[i]) == 0) words[different - 1].count++;
        else words[different++] = words[i];
    }
    qsort(words, different, sizeof *words, by_count);

    host_buffer text = {0}, json = {0};
    host_add(&text, "%zu lines, %zu words, %zu bytes", lines, count, file.len);
    host_add(&json, "{\"lines\":%zu,\"words\":%zu,\"bytes\":%zu,\"top\":[", lines, count, file.len);
    for (size_t i = 0; i < different && (int64_t)i < top; i++) {
        host_add(&text, "\n%zu %.*s", words[i].count, (int)words[i].len, words[i].start);
        host_add(&json, "%s{\"word\":\"%.*s\",\"count\":%zu}", i ? "," : "", (int)words[i].len, words[i].start, words[i].count);
    }
    host_add(&json, "]}");
    return host_answer(outcome, host_finish(&text), host_finish(&json));
}

static const host_need NEEDS[] = {{"fs-read", "*", "count the words of the file that the model names"}, {0}};

const host_tool host_tools[] = {{
    .name = "word_count",
    .title = "Count words",
    .description = "Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.",
    .input_schema = INPUT,
    .output_schema = OUTPUT,
    .read_only = true,
    .idempotent = true,
    .needs = NEEDS,
    .call = word_count,
}};
const size_t host_tool_count = sizeof host_tools / sizeof *host_tools;
