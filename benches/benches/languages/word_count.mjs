// The example `word_count` as a program: what a host without components would start for each call.
import { readFileSync } from 'node:fs';

const { path, top = 10 } = JSON.parse(process.argv[2]);
const data = readFileSync(path);
const text = new TextDecoder('utf-8', { fatal: true }).decode(data);

const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);

const words = (text.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase());
const counts = new Map();
for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
const frequent = [...counts]
  .map(([word, count]) => ({ word, count }))
  .sort((one, other) => other.count - one.count || (one.word < other.word ? -1 : 1))
  .slice(0, top);

const head = `${lines} lines, ${words.length} words, ${data.length} bytes`;
console.log([head, ...frequent.map(({ word, count }) => `${count} ${word}`)].join('\n'));
