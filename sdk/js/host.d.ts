// What a plugin for `host` is written with in JavaScript or TypeScript: the types of `host.js`.
/// <reference path="./capabilities.d.ts" />

import type { Denial } from 'host:cap/types@0.1.0';

export type Case =
  | 'invalid-arguments' | 'not-found' | 'conflict' | 'unavailable' | 'cancelled' | 'failed';

/** How a call failed: one of the cases of the contract, which the model reads. */
export class Failure extends Error {
  readonly payload: { tag: Case; val: string } | { tag: 'denied'; val: Denial };
  static invalidArguments(why: string): Failure;
  static notFound(what: string): Failure;
  static conflict(why: string): Failure;
  static unavailable(why: string): Failure;
  static cancelled(untilThen: string): Failure;
  static failed(why: string): Failure;
  static of(thrown: unknown): Failure;
}

export interface Annotations { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean }
export const MOST_CAREFUL: Annotations;
export const READ_ONLY: Annotations;

/** How a call ended well. */
export interface Answer {
  /** For the model. */
  text: string;
  /** The same as a JSON value, for a tool with an output schema. */
  structured?: unknown;
  /** One line for the user. */
  summary?: string;
}

/** What a call would do, for the user who is asked. */
export type Confirmation =
  | { tag: 'exec'; val: { argv: string[]; directory: string } }
  | { tag: 'edit'; val: { path: string; unified: string; proposed: string } }
  | { tag: 'info'; val: { text: string; requests: { method: string; url: string }[]; writes: string[] } }
  | { tag: 'call' };

/** A tool: what the model is told, and the code behind it. */
export interface Tool<Arguments = any> {
  name: string;
  title?: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: object;
  /** JSON Schema of `Answer.structured`. */
  outputSchema?: object;
  annotations?: Partial<Annotations>;
  /** What it needs, as plugin.toml declares it. */
  needs?: { name: string; scope: string; reason: string }[];
  /** Does it. The arguments have met the schema. */
  call(values: Arguments): Answer | string;
  /** Without it a call of a tool that needs more than reading is asked about by name and arguments. */
  preview?(values: Arguments): Confirmation | undefined;
  /**
   * The arguments of the call that does what the user made of this one: `text` stands in the place of `proposed` where
   * the preview was an `edit`, and of the command line where it was an `exec`. Without it a call is allowed or refused.
   */
  revise?(values: Arguments, text: string): Arguments;
}

/** What the module `plugin` exports as `tool`. */
export function plugin(...tools: Tool[]): object;

type Line = (message: unknown) => void;
export const log: { trace: Line; debug: Line; info: Line; warn: Line; error: Line };
export function emit(output: string): void;
export function progress(done: number, total?: number, message?: string): void;
export function shouldStop(): boolean;
export function config(key: string): any;
/** The text of bytes in UTF-8; undefined when they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined;
export function encodeUtf8(text: string): Uint8Array;
