// The capabilities of the contract, as modules. A capability can be imported when plugin.toml declares it. Its functions
// throw an error with a `payload`, one of the cases of its `Problem`; a tool that does not catch it passes it on as the
// failure of its call. What the host does not have is `null`; what is not handed to it may be left out.

declare module 'host:cap/types@0.1.0' {
  /** A capability said no. */
  export interface Denial { capability: string; wanted: string; help: string }
}

declare module 'host:cap/fs-read@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export type Kind = 'file' | 'directory' | 'symlink' | 'other';
  export interface Metadata { kind: Kind; size: number; modified: number | null; ignored: boolean }
  export interface Entry extends Metadata { name: string }
  export interface WalkOptions {
    root: string;
    globs: string[];
    globsIgnoreCase: boolean;
    respectIgnore: boolean;
    hidden: boolean;
    maxDepth?: number;
    contents: boolean;
    maxFileSize: number;
    sorted: boolean;
  }
  export interface Batch {
    names: Uint8Array;
    nameEnds: number[] | Uint32Array;
    contents: Uint8Array;
    contentEnds: number[] | Uint32Array;
    sizes: number[];
    modified: number[];
  }
  export interface WalkSummary { files: number; tooLarge: number; unreadable: number; denied: number }
  /** A walk under way. */
  export class Walk {
    next(): Batch | null;
    summary(): WalkSummary;
  }
  export type Problem =
    | { tag: 'denied'; val: Denial }
    | { tag: 'not-found' | 'is-directory' | 'not-directory' | 'invalid' | 'io'; val: string }
    | { tag: 'too-large'; val: number };
  export function stat(path: string): Metadata;
  export function list(path: string): Entry[];
  export function read(path: string, offset: number, length: number): { data: Uint8Array; size: number };
  /** A whole file of at most 20 MiB, with the digest that `fs-write` compares. */
  export function readWhole(path: string): { data: Uint8Array; digest: string };
  export function openWalk(options: WalkOptions): Walk;
  /** A walk over the files that contain one of these texts: 1 to 64 of 1 to 256 bytes. */
  export function openSearch(options: WalkOptions, texts: Uint8Array[], ignoreCase: boolean): Walk;
}

declare module 'host:cap/fs-write@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export type Expected = { tag: 'absent' } | { tag: 'digest'; val: string } | { tag: 'anything' };
  export interface Written { digest: string; size: number; created: boolean }
  export interface Span { start: number; end: number; replacement: Uint8Array }
  export type Problem =
    | { tag: 'denied'; val: Denial }
    | { tag: 'not-found' | 'exists' | 'invalid' | 'io'; val: string }
    | { tag: 'changed'; val: string | null }
    | { tag: 'too-large'; val: number };
  export function write(path: string, content: Uint8Array, expected: Expected): Written;
  export function edit(path: string, digest: string, spans: Span[]): Written;
  export function rename(source: string, target: string): void;
  export function remove(path: string): void;
  export function makeDirectory(path: string): void;
}

declare module 'host:cap/process@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export interface Command {
    argv: string[];
    directory: string;
    environment: [string, string][];
    stdin?: Uint8Array;
    silenceLimit?: number;
  }
  export interface Chunk { source: 'stdout' | 'stderr'; data: Uint8Array }
  export interface Exit { code: number | null; signal: number | null; timedOut: boolean; background: number[] | Uint32Array }
  export class Child {
    read(): Chunk | null;
    wait(): Exit;
    kill(): void;
    /** Ends it once it has run for so many milliseconds. */
    endAfter(milliseconds: number): void;
    /** Whether it was ended by `endAfter`; known once `read` has returned null. */
    hasExpired(): boolean;
  }
  export type Problem = { tag: 'denied'; val: Denial } | { tag: 'not-found' | 'invalid' | 'io'; val: string };
  export function spawn(command: Command): Child;
  /** Starts a program that goes on after the call; the preview must have announced it. Returns its id. */
  export function spawnBackground(command: Command): string;
  /** 20 to 300 columns, 5 to 100 rows. */
  export interface TerminalSize { columns: number; rows: number }
  /** The same on a terminal of its own; the preview must have called `announceTerminal`. */
  export function spawnTerminal(command: Command, size: TerminalSize): string;
}

/** The programs that this plugin left running; there with the capability `process`. */
declare module 'host:tool/background@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export type State = { tag: 'running' } | { tag: 'exited' | 'signalled'; val: number };
  export interface Program { id: string; command: string; state: State; milliseconds: number; printed: number }
  export interface Output { data: Uint8Array; dropped: number; program: Program }
  /** In `preview`: the command goes on after the call. */
  export function announce(): void;
  export function list(): Program[];
  /** What was printed since the last time. */
  export function read(id: string): Output | null;
  export function wait(id: string, milliseconds: number): Program | null;
  export function stop(id: string): Program | null;
  /** In `preview`: the command goes on after the call on a terminal. */
  export function announceTerminal(): void;
  export interface Screen {
    text: string;
    cursor?: [number, number];
    columns: number;
    rows: number;
    /** What left the screen since the last `view`. */
    scrolled: string;
    dropped: number;
    program: Program;
  }
  export type Input = { tag: 'text' | 'key'; val: string };
  export type TerminalProblem =
    | { tag: 'not-found' | 'no-terminal' | 'ended' | 'busy' }
    | { tag: 'denied'; val: Denial }
    | { tag: 'invalid'; val: string };
  /** Types into the terminal of a program: text, and keys by their names, such as `enter`, `up` and `ctrl-c`. */
  export function send(id: string, input: Input[]): void;
  /** Its screen, once it has printed nothing for `quiet` milliseconds, or after `most`. */
  export function view(id: string, quiet: number, most: number): Screen;
  export function resize(id: string, columns: number, rows: number): void;
}

/** The changes that a preview names; there with the capability `fs-write`. */
declare module 'host:tool/file-changes@0.1.0' {
  export interface FileDifference { path: string; unified: string; proposed: string }
  /** In `preview`, which then returns a confirmation of the kind `call`: the call writes this file with this content. */
  export function write(difference: FileDifference): void;
  /** The same: the call removes this file. */
  export function remove(path: string): void;
}

declare module 'host:cap/http@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export interface Request {
    method: string;
    url: string;
    headers: [string, string][];
    body?: Uint8Array;
    timeLimit?: number;
    sizeLimit: number;
  }
  export interface Response { status: number; url: string; headers: [string, string][]; body: Uint8Array; cut: boolean }
  export type Problem =
    | { tag: 'denied' | 'redirect-denied'; val: Denial }
    | { tag: 'invalid' | 'unavailable'; val: string }
    | { tag: 'timed-out' };
  export function fetch(request: Request): Response;
  /** The same with secrets, by the names that plugin.toml declares them with. The plugin never reads one. */
  export function fetchWithSecrets(request: Request, secrets: string[]): Response;
}

declare module 'host:cap/state@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export interface Item { value: Uint8Array; version: string }
  export type Expected = { tag: 'absent' } | { tag: 'version'; val: string } | { tag: 'anything' };
  export type Problem =
    | { tag: 'denied'; val: Denial }
    | { tag: 'changed'; val: string | null }
    | { tag: 'invalid' | 'full' | 'io'; val: string };
  export function get(key: string): Item | null;
  export function put(key: string, value: Uint8Array, expected: Expected): string;
  function forget(key: string, expected: Expected): void;
  export { forget as delete };
  export function list(): string[];
}

declare module 'host:cap/mcp@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  export type Content =
    | { tag: 'text'; val: string }
    | { tag: 'blob'; val: { mimeType: string; data: Uint8Array } }
    | { tag: 'link'; val: { uri: string; title?: string } };
  export interface Answer { content: Content[]; structured?: string; isError: boolean }
  export type Problem =
    | { tag: 'denied'; val: Denial }
    | { tag: 'not-found' | 'invalid' | 'unavailable' | 'failed'; val: string }
    | { tag: 'cancelled' };
  /** Calls a tool of an MCP server that the user configured; `arguments_` is a JSON object as text. */
  export function call(server: string, tool: string, arguments_: string): Answer;
}

declare module 'host:cap/tools@0.1.0' {
  import type { Denial } from 'host:cap/types@0.1.0';
  /** `arguments` is a JSON object as text. */
  export interface ToolCall { tool: string; arguments: string }
  export interface Answer { text: string; structured?: string }
  export type Problem =
    | { tag: 'denied'; val: Denial }
    | { tag: 'not-found' | 'invalid' | 'refused' | 'unavailable' | 'failed'; val: string }
    | { tag: 'cancelled' };
  /** Calls another tool of the session, as if the model had called it. */
  export function call(call: ToolCall): Answer;
  /** The same for several at once; one result for each, in their order. */
  export function callAll(calls: ToolCall[]): ({ tag: 'ok'; val: Answer } | { tag: 'err'; val: Problem })[];
}
