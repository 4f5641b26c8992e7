// What a plugin for `host` is written with in JavaScript or TypeScript; `host.d.ts` says it with types.
//
// The engine is QuickJS: the whole language, and little of the web's platform. There is `console` (to the host's log),
// a clock and random numbers; there is no `fetch`, no timer, no `TextDecoder` (see `decodeUtf8`), and no file but through
// a capability.

import * as context from 'host:tool/context@0.1.0';

/** Levels of `log`. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];

/** How a call failed: one of the cases of the contract, which the model reads. */
export class Failure extends Error {
  constructor(tag, val) {
    super(typeof val === 'string' ? val : val.help);
    this.name = 'Failure';
    // What the contract takes from something thrown.
    this.payload = { tag, val };
  }
  static invalidArguments(why) { return new Failure('invalid-arguments', why); }
  static notFound(what) { return new Failure('not-found', what); }
  static conflict(why) { return new Failure('conflict', why); }
  static unavailable(why) { return new Failure('unavailable', why); }
  static cancelled(untilThen) { return new Failure('cancelled', untilThen); }
  static failed(why) { return new Failure('failed', why); }

  /** What was thrown, as the failure of the call. What a capability refused is passed on as it came. */
  static of(thrown) {
    if (thrown instanceof Failure) return thrown;
    const { tag, val } = thrown?.payload ?? {};
    switch (tag) {
      case 'denied':
      case 'redirect-denied': return new Failure('denied', val);
      case 'not-found': return Failure.notFound(val ?? 'there is no such program in the background');
      case 'no-terminal': return Failure.failed('this program has no terminal');
      case 'ended': return Failure.conflict('this program has ended');
      case 'busy': return Failure.unavailable('this program does not read what is typed');
      case 'is-directory':
      case 'not-directory':
      case 'invalid': return Failure.invalidArguments(val);
      case 'exists': return Failure.conflict(val);
      case 'changed': return Failure.conflict('what is there is not what was expected');
      case 'unavailable': return Failure.unavailable(val);
      case 'timed-out': return Failure.unavailable('the time limit passed');
      case 'too-large': return Failure.failed(`it has ${val} bytes, which is too large`);
      case 'cancelled': return Failure.cancelled('');
      case 'refused':
      case 'failed':
      case 'full':
      case 'io': return Failure.failed(val);
    }
    log.error(`${thrown}\n${thrown?.stack ?? ''}`);
    const missing = thrown instanceof ReferenceError && /^'?([\w$]+)'? is not defined$/.exec(thrown.message)?.[1];
    if (missing) return Failure.failed(`${moduleOf(thrown.stack)} uses \`${missing}\`, which a plugin does not have`);
    return Failure.failed(String(thrown));
  }
}

/** The package or the file of the innermost line of a stack. The build sets the table of the modules and their first lines. */
function moduleOf(stack) {
  const modules = globalThis[Symbol.for('host.modules')] ?? [];
  for (const [, line] of stack.matchAll(/plugin\.bundle\.js:(\d+)/g)) {
    const module = modules.findLast(([first]) => first <= line);
    if (module) return module[1];
  }
  return 'the plugin';
}

/** Annotations of a tool that says nothing of itself. */
export const MOST_CAREFUL = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
/** Annotations of a tool that only reads. */
export const READ_ONLY = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

/** A line in the host's log. */
export const log = Object.fromEntries(LEVELS.map((level) => [level, (message) => context.log(level, String(message))]));

/** Live output for the user; no part of the answer. */
export const emit = (output) => context.emit(output);
/** How far the call is, in a unit that the message names. */
export const progress = (done, total, message = '') => context.progress(done, total, message);
/** Whether the call has been told to stop. */
export const shouldStop = () => context.shouldStop();
/** A value of the plugin's own configuration. */
export const config = (key) => {
  const value = context.config(key);
  return value == null ? undefined : JSON.parse(value);
};

globalThis.console ??= Object.fromEntries(
  [['debug', 'debug'], ['log', 'info'], ['info', 'info'], ['warn', 'warn'], ['error', 'error']].map(([name, level]) => [
    name,
    (...values) => log[level](values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')),
  ]),
);

// The engine's own generator was seeded when the plugin was built, so that each call would have the same numbers. This
// one starts from the clock and the call; as ever with Math.random, it is not for secrets.
function seedRandom(call) {
  let [a, b, c] = [Date.now() % 2 ** 32, performance.now() * 1e6, 0x9e3779b9];
  for (let i = 0; i < call.id.length; i++) c = Math.imul(c ^ call.id.charCodeAt(i), 0x01000193);
  let d = 1;
  const next = () => {
    // sfc32, of the test suite PractRand.
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 16; i++) next();
  Math.random = next;
}

/**
 * The text of bytes in UTF-8; undefined when they are none: no overlong form, no surrogate, nothing past U+10FFFF. A mark of
 * the byte order stays.
 */
export function decodeUtf8(bytes) {
  const pieces = [];
  // As many arguments as a function surely takes. The engine goes over them, which is many times as fast as to do it here.
  for (let i = 0; i < bytes.length; i += 4096) {
    pieces.push(String.fromCharCode.apply(null, bytes.subarray(i, i + 4096)));
  }
  const units = pieces.join('');
  if (!/[^\0-\x7f]/.test(units)) return units;
  try {
    // An address may hold any text, as escaped bytes in UTF-8.
    return decodeURIComponent(escape(units));
  } catch {
    return undefined;
  }
}

/** The bytes of a text in UTF-8; half of a surrogate pair becomes U+FFFD. */
export function encodeUtf8(text) {
  const bytes = [];
  for (const character of text) {
    let code = character.codePointAt(0);
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** What the module `plugin` exports as `tool`: the functions of the contract, over these tools. */
export function plugin(...tools) {
  const answered = (call, work) => {
    seedRandom(call);
    try {
      const tool = tools.find((tool) => tool.name === call.tool);
      if (!tool) throw Failure.invalidArguments(`this plugin has no tool \`${call.tool}\``);
      return work(tool, JSON.parse(call.arguments));
    } catch (thrown) {
      throw Failure.of(thrown);
    }
  };
  const onlyReads = (tool) =>
    (tool.needs ?? []).every((need) => need.name === 'fs-read' || (need.name === 'state' && need.scope === 'read'));
  return {
    describe: () =>
      tools.map((tool) => ({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: JSON.stringify(tool.inputSchema),
        outputSchema: tool.outputSchema && JSON.stringify(tool.outputSchema),
        annotations: { ...MOST_CAREFUL, ...tool.annotations },
        capabilities: tool.needs ?? [],
      })),
    preview: (call) =>
      answered(call, (tool, values) => (tool.preview ? tool.preview(values) : onlyReads(tool) ? undefined : { tag: 'call' })),
    revise: (call, text) =>
      answered(call, (tool, values) => {
        if (tool.revise) return JSON.stringify(tool.revise(values, text));
        throw Failure.invalidArguments(`a call of \`${tool.name}\` can be allowed or refused, not changed`);
      }),
    call: (call) =>
      answered(call, (tool, values) => {
        const answer = tool.call(values);
        const { text, structured, summary } = typeof answer === 'string' ? { text: answer } : answer;
        return {
          content: [{ tag: 'text', val: text }],
          structured: structured === undefined ? undefined : JSON.stringify(structured),
          display: summary === undefined ? undefined : { tag: 'summary', val: summary },
        };
      }),
  };
}
