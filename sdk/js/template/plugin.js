// The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words.

import { readWhole } from 'host:cap/fs-read@0.1.0';
import { Failure, READ_ONLY, decodeUtf8, plugin } from './host.js';

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The text file, relative to the workspace or absolute.' },
    top: { type: 'integer', minimum: 0, description: 'How many of the most frequent words to list; 10 if left out.' },
  },
  required: ['path'],
  additionalProperties: false,
};

const outputSchema = {
  type: 'object',
  properties: {
    lines: { type: 'integer' },
    words: { type: 'integer' },
    bytes: { type: 'integer' },
    top: {
      type: 'array',
      items: {
        type: 'object',
        properties: { word: { type: 'string' }, count: { type: 'integer' } },
        required: ['word', 'count'],
      },
    },
  },
  required: ['lines', 'words', 'bytes', 'top'],
};

/** @param {{ path: string, top?: number }} call */
function wordCount({ path, top = 10 }) {
  const { data } = readWhole(path);
  const text = decodeUtf8(data);
  if (text === undefined) throw Failure.invalidArguments(`\`${path}\` is not UTF-8 text`);

  const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);

  const words = (text.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase());
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const frequent = [...counts]
    .map(([word, count]) => ({ word, count }))
    .sort((one, other) => other.count - one.count || (one.word < other.word ? -1 : 1))
    .slice(0, top);

  const head = `${lines} lines, ${words.length} words, ${data.length} bytes`;
  return {
    text: [head, ...frequent.map(({ word, count }) => `${count} ${word}`)].join('\n'),
    structured: { lines, words: words.length, bytes: data.length, top: frequent },
  };
}

export const tool = plugin({
  name: 'word_count',
  title: 'Count words',
  description: 'Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.',
  inputSchema,
  outputSchema,
  annotations: READ_ONLY,
  needs: [{ name: 'fs-read', scope: '*', reason: 'count the words of the file that the model names' }],
  call: wordCount,
});
