// The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"host.internal/host"
)

const input = `{
	"type": "object",
	"properties": {
		"path": {"type": "string", "description": "The text file, relative to the workspace or absolute."},
		"top": {
			"type": "integer",
			"minimum": 0,
			"description": "How many of the most frequent words to list; 10 if left out."
		}
	},
	"required": ["path"],
	"additionalProperties": false
}`

const output = `{
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
				"required": ["word", "count"]
			}
		}
	},
	"required": ["lines", "words", "bytes", "top"]
}`

func init() {
	host.Export(host.Tool{
		Name:         "word_count",
		Title:        "Count words",
		Description:  "Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.",
		InputSchema:  input,
		OutputSchema: output,
		Annotations:  host.ReadOnly,
		Needs:        []host.Need{{Capability: "fs-read", Scope: "*", Reason: "count the words of the file that the model names"}},
		Call:         host.Function(wordCount),
	})
}

// It does not run: the plugin is what `init` exports.
func main() {}

type arguments struct {
	Path string `json:"path"`
	Top  *int   `json:"top"`
}

type entry struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

type found struct {
	Lines int     `json:"lines"`
	Words int     `json:"words"`
	Bytes int     `json:"bytes"`
	Top   []entry `json:"top"`
}

var letters = regexp.MustCompile(`[A-Za-z]+`)

func wordCount(arguments arguments) (host.Answer, error) {
	data, err := host.ReadFile(arguments.Path)
	if err != nil {
		return host.Answer{}, err
	}
	if !utf8.Valid(data) {
		return host.Answer{}, host.InvalidArguments("`%s` is not UTF-8 text", arguments.Path)
	}

	lines := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	words := letters.FindAll(data, -1)
	counts := map[string]int{}
	for _, word := range words {
		counts[strings.ToLower(string(word))]++
	}
	top := make([]entry, 0, len(counts))
	for word, count := range counts {
		top = append(top, entry{word, count})
	}
	slices.SortFunc(top, func(one, other entry) int {
		return cmp.Or(cmp.Compare(other.Count, one.Count), strings.Compare(one.Word, other.Word))
	})
	most := 10
	if arguments.Top != nil {
		most = *arguments.Top
	}
	top = top[:min(most, len(top))]

	text := fmt.Sprintf("%d lines, %d words, %d bytes", lines, len(words), len(data))
	for _, entry := range top {
		text += fmt.Sprintf("\n%d %s", entry.Count, entry.Word)
	}
	return host.Answer{Text: text, Structured: found{lines, len(words), len(data), top}}, nil
}
