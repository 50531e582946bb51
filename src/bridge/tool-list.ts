/**
 * Answers the tool list even if the server fails: hosts request the list once, and an agent without it has no tools for the whole session. The answer
 * is the server's list if that arrives in time, otherwise the one built into the program; never a list that a server sent earlier.
 */
import { asRecord } from "#core/json-record.ts";
import type { BodyOf } from "#api/client.ts";
import { TOOLS } from "#api/tools.ts";
import { rpcText } from "#core/json-text.ts";
import { messageOf } from "./failures.ts";
import type { RequestFrame, RpcAnswer } from "./frames.ts";
import { modernFields, modernVersion, type Handshake } from "./handshake.ts";

export interface ToolListOptions {
  /** Relays a request. Rejects when the server has no answer to it. */
  ask(request: RequestFrame, signal: AbortSignal): Promise<string>;
  handshake: Pick<Handshake, "hasBegun">;
  /** Writes one line to the host. */
  emit(line: string): void;
  log(level: "info" | "warn", message: string): void;
  /** Resolves after `ms`, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds to wait for the server's list. */
  listMs: number;
}

/** Makes the tool list for one host connection. */
export function makeToolList(options: ToolListOptions) {
  const { ask, log, listMs } = options;
  /** The tools that the host received last, as JSON. */
  let hostTools: string | undefined;
  let isToCheck = false;
  const closed = new AbortController();

  async function compare(): Promise<void> {
    const line = await ask(OWN_REQUEST, closed.signal).catch(() => undefined);
    const tools = line === undefined ? undefined : toolsIn(line);
    if (tools === undefined) isToCheck = true;
    else if (tools !== hostTools && !closed.signal.aborted) {
      hostTools = tools;
      log("info", "the server's list of tools changed; the host is notified");
      options.emit(CHANGED);
    }
  }

  /** Returns the server's answer if it arrives in time, otherwise the reason why there is none. */
  async function askInTime(request: RequestFrame, signal: AbortSignal): Promise<{ line?: string; why: string }> {
    const late = new AbortController();
    const asked = ask(request, AbortSignal.any([signal, late.signal])).then(
      (line) => ({ line, why: "the server gave no list" }),
      (error: unknown) => ({ why: messageOf(error) }),
    );
    const waited = options.wait(listMs, AbortSignal.any([signal, late.signal]));
    const tooLate = waited.then(() => ({ why: `no answer within ${listMs / 1000} s` }));
    const answer = await Promise.race([asked, tooLate]);
    late.abort();
    return answer;
  }

  return {
    /** Returns the answer to `tools/list` as one line. Rejects only when the signal aborts, or when the request is for a page that doesn't exist. */
    async answer(request: RequestFrame, signal: AbortSignal): Promise<string> {
      const { line, why } = await askInTime(request, signal);
      signal.throwIfAborted();
      const tools = line === undefined ? undefined : toolsIn(line);
      // The list has one page. A request for another page gets the server's error.
      if (line !== undefined && (tools !== undefined || isForPage(request))) {
        if (tools !== undefined) {
          hostTools = tools;
          isToCheck = false;
        }
        return line;
      }
      log("warn", `tools/list: answered with the list of this program: ${why}`);
      hostTools = OWN_TOOLS;
      isToCheck = true;
      return ownAnswer(request);
    },
    /** Called after any answer from the server. Fetches the server's list if it may differ from the list that the host has, and compares them. */
    noteReached(): void {
      if (!isToCheck || hostTools === undefined || !options.handshake.hasBegun()) return;
      isToCheck = false;
      void compare();
    },
    /** Called when the server didn't answer: a different or newer server may answer next. */
    noteFailure(): void {
      isToCheck = true;
    },
    /** Stops all further requests. */
    close: (): void => closed.abort(),
  };
}

const OWN_TOOLS = JSON.stringify(TOOLS);
const CHANGED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
/** The bridge's own request. Its id can't collide with a host's id, because each request has its own connection to the server. */
const OWN_MESSAGE = { jsonrpc: "2.0", id: "kb-tools", method: "tools/list", params: {} } as const satisfies BodyOf<
  "post",
  "/mcp"
>;
const OWN_REQUEST: RequestFrame = {
  type: "request",
  ...OWN_MESSAGE,
  idText: JSON.stringify(OWN_MESSAGE.id),
  raw: JSON.stringify(OWN_MESSAGE),
};

/** Returns the tools of an answer as JSON; undefined when the answer has none. */
function toolsIn(line: string): string | undefined {
  // `ask` returns answers that were parsed as JSON objects.
  const tools = asRecord((JSON.parse(line) as RpcAnswer).result)?.["tools"];
  return Array.isArray(tools) ? JSON.stringify(tools) : undefined;
}

function isForPage({ params }: RequestFrame): boolean {
  return typeof params["cursor"] === "string" && params["cursor"] !== "";
}

function ownAnswer(request: RequestFrame): string {
  const modern = modernVersion(request.params) === undefined ? {} : modernFields();
  return rpcText(request.idText, { result: { tools: TOOLS, ...modern } });
}
