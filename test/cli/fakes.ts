import { Readable, Writable } from "node:stream";
import { join } from "node:path";
import { tempDir } from "../temp-dir.ts";
import type { Deps, Prompts } from "#cli/host/deps.ts";
import type { Fetch } from "#cli/host/http.ts";
import { KeychainUnavailable, type Keychain } from "#cli/host/keychain.ts";
import { runCli } from "#cli/start/run.ts";

/** One request that a command made. */
export interface Sent {
  method: string;
  url: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> } | Error;

export interface FakeWorld {
  dir: string;
  env: Record<string, string | undefined>;
  stdin: string;
  isTty: boolean;
  columns: number;
  /** "GET /api/session" → reply; a list is used up in order, its last stays. */
  routes: Record<string, Reply | Reply[]>;
  prompts: Partial<Prompts>;
  sent: Sent[];
  /** What the keychain holds; undefined: there is none. */
  keychain: Map<string, string> | undefined;
  /** Addresses that the browser was asked to open. */
  opened: string[];
  /** The clock at the start of each run. */
  now: number;
  /** Real parts in place of fakes: fetch, clock, program. */
  real: Partial<Deps>;
}

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
  sent: Sent[];
}

/** A world without network: signed in by environment unless `env` says otherwise. */
export function makeWorld(more: Partial<FakeWorld> = {}): FakeWorld {
  return {
    dir: tempDir(),
    env: { KB_URL: "https://kb.test", KB_TOKEN: "kb_pat_0123456789abcdef" },
    stdin: "",
    isTty: false,
    columns: 100,
    routes: {},
    prompts: {},
    sent: [],
    keychain: undefined,
    opened: [],
    now: Date.UTC(2026, 10, 21),
    real: {},
    ...more,
  };
}

/** Runs a command line in a fake world; an unexpected request fails the run with exit code 1. */
export async function kb(world: FakeWorld, ...argv: string[]): Promise<Run> {
  let stdout = "";
  let stderr = "";
  let { now } = world;
  const sink = (take: (text: string) => void): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        take(chunk.toString("utf8"));
        done();
      },
    });
  const deps: Deps = {
    io: {
      stdin: Readable.from([Buffer.from(world.stdin)]),
      stdout: sink((text) => (stdout += text)),
      stderr: sink((text) => (stderr += text)),
      isStdinTty: world.isTty,
      isStdoutTty: world.isTty,
      isStderrTty: world.isTty,
      columns: () => world.columns,
    },
    env: { HOME: world.dir, KB_CONFIG_DIR: join(world.dir, "config"), ...world.env },
    cwd: world.dir,
    home: world.dir,
    platform: "linux",
    fetch: fakeFetch(world),
    clock: {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    },
    prompts: {
      text: () => Promise.reject(new Error("unexpected question")),
      password: () => Promise.reject(new Error("unexpected question")),
      confirm: () => Promise.reject(new Error("unexpected question")),
      select: () => Promise.reject(new Error("unexpected question")),
      ...world.prompts,
    },
    signal: new AbortController().signal,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    program: { command: process.execPath, prefix: ["/opt/kb/cli.js"] },
    keychain: fakeKeychain(world),
    outliveStdout: () => -1,
    announceReady: () => undefined,
    openUrl: async (address) => {
      world.opened.push(address);
      return true;
    },
    ...world.real,
  };
  const code = await runCli(argv, deps);
  return { code, stdout, stderr, sent: world.sent };
}

function fakeKeychain(world: FakeWorld): Keychain {
  const open = (): Map<string, string> => {
    if (world.keychain === undefined) throw new KeychainUnavailable("there is no desktop session");
    return world.keychain;
  };
  return {
    find: async (account) => open().get(account),
    save: async (account, secret) => void open().set(account, secret),
    remove: async (account) => void open().delete(account),
  };
}

function fakeFetch(world: FakeWorld): Fetch {
  return async (address, init) => {
    const url = new URL(address);
    const method = init.method ?? "GET";
    const body = typeof init.body === "string" ? parsed(init.body) : init.body;
    world.sent.push({ method, url: url.href, path: url.pathname, headers: lower(init.headers), body });
    const route = world.routes[`${method} ${url.pathname}`];
    const reply = Array.isArray(route) ? (route.length > 1 ? route.shift() : route[0]) : route;
    if (reply === undefined) throw new Error(`Unexpected request: ${method} ${url.pathname}`);
    if (reply instanceof Error) throw reply;
    const status = reply.status ?? 200;
    const headers = new Headers({ "content-type": "application/json", "x-request-id": "req_1", ...reply.headers });
    const text =
      reply.body === undefined ? null : typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    return new Response(status === 204 ? null : text, { status, headers });
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function lower(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}

/** A problem answer as the server gives it. */
export function problem(status: number, code: string, detail: string, more: Record<string, unknown> = {}): Reply {
  return { status, body: { type: "about:blank", title: code, status, detail, code, requestId: "req_9", ...more } };
}
