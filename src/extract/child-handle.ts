import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Extracted, ExtractRequest, NotExtracted } from "./extractor.ts";
import { FrameReader, type Frame } from "./frames.ts";
import { readRssBytes } from "./resident-memory.ts";
import { decodeResult, encodeRequest } from "./wire.ts";

/** Why a child is no more. `retired` is the only good end. */
export type ChildEnd = "retired" | "timeout" | "memory" | "crash" | "killed" | "never_started";

/** A request on its way, with the caller that waits for it. */
export interface Job {
  request: ExtractRequest;
  /** Small enough that others may be sent behind it before it is answered. */
  isSmall: boolean;
  /** By its name a text file that no parser of documents will see. */
  isPlainText: boolean;
  timeoutMs: number;
  /** Children that died over it. */
  deaths: number;
  isAbandoned: boolean;
  /** When it was asked for, on the pool's clock. */
  since: number;
  settle(result: Extracted | NotExtracted): void;
  fail(error: unknown): void;
}

export interface ChildEvents {
  /** The child answered its first job, or said hello. */
  onIdleOrAnswered(): void;
  /** `unanswered` in the order they were sent: the first is the one it died over. */
  onEnd(end: ChildEnd, unanswered: Job[], detail: string): void;
}

/** One child process and what it works on. The pool decides what it gets; this keeps its clock and its memory. */
export class ChildHandle {
  workspace: string | undefined;
  files = 0;
  /** How many of them needed a parser of documents. */
  documents = 0;
  rssBytes = 0;
  idleSince: number;
  readonly jobs: Job[] = [];
  private isReady = false;
  private end: ChildEnd | undefined;
  private headSince: number;
  private readonly reader = new FrameReader();
  private readonly process: ChildProcess;
  private readonly now: () => number;
  private readonly events: ChildEvents;

  constructor(process: ChildProcess, now: () => number, events: ChildEvents) {
    this.process = process;
    this.now = now;
    this.events = events;
    this.idleSince = now();
    this.headSince = this.idleSince;
    const input = process.stdin;
    // Proof: spawnChild makes descriptor 3 a pipe, which a parent reads.
    const output = process.stdio[3] as Readable | null | undefined;
    // A child that ends early breaks its pipe; its end is told by "close".
    input?.on("error", () => undefined);
    output?.on("error", () => undefined);
    output?.on("data", (chunk: Buffer) => this.receive(chunk));
    process.on("error", () => undefined);
    process.on("close", (code, signal) => this.onClose(code, signal));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get isLeaving(): boolean {
    return this.end !== undefined;
  }

  send(job: Job): void {
    if (this.jobs.length === 0) this.headSince = this.now();
    this.jobs.push(job);
    this.files++;
    if (!job.isPlainText) this.documents++;
    this.workspace = job.request.workspace;
    const input = this.process.stdin;
    if (input === null) return;
    input.cork();
    for (const part of encodeRequest(job.request)) input.write(part);
    // Requests sent in one go leave in one write.
    process.nextTick(() => input.uncork());
  }

  /** Ends the child once it has answered what it has. */
  retire(): void {
    if (this.isLeaving) return;
    this.end = "retired";
    this.process.stdin?.end();
  }

  kill(why: ChildEnd): void {
    this.end = why;
    this.process.kill("SIGKILL");
  }

  /** Kills the child when its file takes too long or it holds too much memory. */
  async watch(maxRssBytes: number, startTimeoutMs: number): Promise<void> {
    const elapsed = this.now() - this.headSince;
    const head = this.jobs[0];
    if (!this.isReady) {
      if (elapsed > startTimeoutMs) this.kill("never_started");
    } else if (head !== undefined && elapsed > head.timeoutMs) {
      this.kill("timeout");
    } else if (this.end === "retired" && head === undefined && elapsed > startTimeoutMs) {
      this.kill("retired");
    }
    if (this.pid === undefined || this.end === "timeout") return;
    this.rssBytes = await readRssBytes(this.pid);
    if (this.rssBytes > maxRssBytes) this.kill("memory");
  }

  private receive(chunk: Buffer): void {
    // What a killed child still had in its pipe is no answer any more: its jobs are given out again.
    if (this.end !== undefined && this.end !== "retired") return;
    try {
      for (const frame of this.reader.push(chunk)) this.answer(frame);
    } catch {
      // No frames, or no result in one: the child is not ours any more.
      this.kill("crash");
    }
  }

  private answer(frame: Frame): void {
    const now = this.now();
    this.headSince = now;
    if (this.isReady) {
      const result = decodeResult(frame);
      const job = this.jobs.shift();
      if (job === undefined) throw new Error("an answer that nobody asked for");
      job.settle(result);
    } else {
      this.isReady = true;
    }
    if (this.jobs.length === 0) this.idleSince = now;
    this.events.onIdleOrAnswered();
  }

  private onClose(code: number | null, signal: NodeJS.Signals | null): void {
    this.end = this.closeReason(code, signal);
    this.events.onEnd(this.end, this.jobs.splice(0), signal ?? `exit code ${code ?? "unknown"}`);
  }

  private closeReason(code: number | null, signal: NodeJS.Signals | null): ChildEnd {
    const isGoodEnd = this.end === "retired" && this.jobs.length === 0;
    if (this.end !== undefined && (this.end !== "retired" || isGoodEnd)) return this.end;
    if (!this.isReady) return "never_started";
    // A heap at its cap aborts the process.
    return signal === "SIGABRT" || code === 134 ? "memory" : "crash";
  }
}
