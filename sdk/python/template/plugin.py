"""The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words."""

import re
from collections import Counter

from host_sdk import READ_ONLY, Answer, Failure, Need, export, fs_read, tool

INPUT = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The text file, relative to the workspace or absolute."},
        "top": {
            "type": "integer",
            "minimum": 0,
            "description": "How many of the most frequent words to list; 10 if left out.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}

OUTPUT = {
    "type": "object",
    "properties": {
        "lines": {"type": "integer"},
        "words": {"type": "integer"},
        "bytes": {"type": "integer"},
        "top": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"word": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["word", "count"],
            },
        },
    },
    "required": ["lines", "words", "bytes", "top"],
}


@tool(
    "word_count",
    "Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.",
    INPUT,
    title="Count words",
    output_schema=OUTPUT,
    annotations=READ_ONLY,
    needs=(Need("fs-read", "*", "count the words of the file that the model names"),),
)
def word_count(arguments):
    path, top = arguments["path"], arguments.get("top", 10)
    data = fs_read.read_whole(path).data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure.invalid_arguments(f"`{path}` is not UTF-8 text")

    lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", text)]
    counts = sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0]))[:top]

    said = [f"{lines} lines, {len(words)} words, {len(data)} bytes"]
    said += [f"{count} {word}" for word, count in counts]
    found = {
        "lines": lines,
        "words": len(words),
        "bytes": len(data),
        "top": [{"word": word, "count": count} for word, count in counts],
    }
    return Answer("\n".join(said), structured=found)


Tool = export(word_count)
