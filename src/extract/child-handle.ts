import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Extracted, ExtractRequest, NotExtracted } from "./extractor.ts";
import { letGo, SPOOLED_FROM_BYTES, type Spool, type SpooledBytes } from "#core/spool.ts";
import { FrameReader, type Frame } from "./frames.ts";
import { WAITING_FACTOR } from "./limits.ts";
import { readUsage } from "./process-usage.ts";
import { BODIES_OF_TEXT, decodeResult, encodeRequest } from "./wire.ts";

/** Why a child has ended. `retired` is the only normal end; `wait`: it used little CPU time, but its file's wall-clock limit was exceeded. */
export type ChildEnd = "retired" | "timeout" | "wait" | "memory" | "crash" | "killed" | "never_started";

/** A request in progress, with the caller that waits for it. */
export interface Job {
  request: ExtractRequest;
  /** Whether the file is so small that others may be sent after it before it is answered. */
  isSmall: boolean;
  /** Whether the name is that of a text file, which isn't processed by a document parser. */
  isPlainText: boolean;
  /** CPU time limit; the wall-clock limit is `WAITING_FACTOR` times as long. */
  timeoutMs: number;
  /** Number of children that died while reading it. */
  deaths: number;
  isAbandoned: boolean;
  /** Why the file's bytes can't be read from the spool. */
  unread?: string;
  /** When the job was requested, on the pool's clock. */
  since: number;
  settle(result: Extracted | NotExtracted): void;
  fail(error: unknown): void;
}

export interface ChildEvents {
  /** Called when the child has answered its first job, or has sent its hello. */
  onIdleOrAnswered(): void;
  /** Called when the child has ended. `unanswered` is in the order of sending: the first job is the one that the child died on. */
  onEnd(end: ChildEnd, unanswered: Job[], detail: string, cause?: unknown): void;
}

/** One child process and its jobs. The pool assigns the jobs; this class watches its time and its memory. */
export class ChildHandle {
  workspace: string | undefined;
  files = 0;
  /** Number of the child's files that needed a document parser. */
  documents = 0;
  rssBytes = 0;
  idleSince: number;
  readonly jobs: Job[] = [];
  private isReady = false;
  private end: ChildEnd | undefined;
  private startError: unknown;
  private headSince: number;
  /** Counts the jobs that were first in line. */
  private headNumber = 0;
  /** The CPU time of the child shortly after this job became the first in line. */
  private cpuBase: { head: number; cpuMs: number } | undefined;
  private readonly reader: FrameReader;
  private readonly process: ChildProcess;
  private readonly now: () => number;
  private readonly events: ChildEvents;

  /** @param spool  stores the files inside a file if they are many bytes; absent = they stay in memory */
  constructor(process: ChildProcess, now: () => number, events: ChildEvents, spool: Spool | undefined) {
    this.process = process;
    this.now = now;
    this.events = events;
    this.reader = new FrameReader(
      spool && { from: BODIES_OF_TEXT, maxBytes: SPOOLED_FROM_BYTES, begin: () => spool.begin() },
    );
    this.idleSince = now();
    this.headSince = this.idleSince;
    const input = process.stdin;
    // The cast is safe because spawnChild makes descriptor 3 a pipe, which a parent reads.
    const output = process.stdio[3] as Readable | null | undefined;
    // A child that ends early breaks its pipe; "close" reports its end.
    input?.on("error", () => undefined);
    output?.on("error", () => undefined);
    output?.on("data", (chunk: Buffer) => this.receive(chunk, output));
    process.on("error", (error) => (this.startError = error));
    process.on("close", (code, signal) => this.onClose(code, signal));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get isLeaving(): boolean {
    return this.end !== undefined;
  }

  send(job: Job): void {
    if (this.jobs.length === 0) this.beginHead();
    this.jobs.push(job);
    this.files++;
    if (!job.isPlainText) this.documents++;
    this.workspace = job.request.workspace;
    const input = this.process.stdin;
    if (input === null) return;
    const { pieces, spooled } = encodeRequest(job.request);
    input.cork();
    for (const part of pieces) input.write(part);
    // Requests sent in the same tick are written together.
    process.nextTick(() => input.uncork());
    if (spooled) void this.sendSpooled(job, spooled);
  }

  /** A spooled file is large, so it is the child's only job; the child itself opens no file. Source: S44. */
  private async sendSpooled(job: Job, bytes: SpooledBytes): Promise<void> {
    const input = this.process.stdin;
    try {
      for await (const piece of bytes.pieces()) {
        if (!input || input.destroyed || job.isAbandoned) return;
        if (!input.write(piece)) await drained(input);
      }
    } catch (error) {
      // An abandoned job has no caller any more, and the end of a child is reported elsewhere.
      if (job.isAbandoned || this.process.exitCode !== null || this.process.signalCode !== null) return;
      job.unread = error instanceof Error ? error.message : String(error);
      this.kill("killed");
    }
  }

  /** Ends the child once it has answered its jobs. */
  retire(): void {
    if (this.isLeaving) return;
    this.end = "retired";
    this.process.stdin?.end();
  }

  kill(why: ChildEnd): void {
    this.end = why;
    this.process.kill("SIGKILL");
  }

  private beginHead(): void {
    this.headSince = this.now();
    this.headNumber++;
  }

  /** Kills the child when its file takes too long or it holds too much memory. */
  async watch(maxRssBytes: number, startTimeoutMs: number): Promise<void> {
    const elapsed = this.now() - this.headSince;
    const head = this.jobs[0];
    if (!this.isReady) {
      if (elapsed > startTimeoutMs) this.kill("never_started");
    } else if (head !== undefined && elapsed > head.timeoutMs * WAITING_FACTOR) {
      this.kill("wait");
    } else if (this.end === "retired" && head === undefined && elapsed > startTimeoutMs) {
      this.kill("retired");
    }
    if (this.pid === undefined || this.isKilled) return;
    const checkedHead = this.headNumber;
    const { rssBytes, cpuMs = this.now() } = await readUsage(this.pid);
    this.rssBytes = rssBytes;
    if (this.isKilled) return;
    if (rssBytes > maxRssBytes) this.kill("memory");
    else if (head !== undefined && checkedHead === this.headNumber) this.watchCpu(head, cpuMs);
  }

  /** CPU time used before the file became first belongs to earlier files. If the CPU time is unknown, wall-clock time is used instead. */
  private watchCpu(head: Job, cpuMs: number): void {
    if (this.cpuBase?.head !== this.headNumber) this.cpuBase = { head: this.headNumber, cpuMs };
    else if (this.isReady && cpuMs - this.cpuBase.cpuMs > head.timeoutMs) this.kill("timeout");
  }

  private receive(chunk: Buffer, output: Readable): void {
    // Data that a killed child left in its pipe is ignored: its jobs are assigned again.
    if (this.isKilled) return;
    try {
      const frames = this.reader.push(chunk);
      const writing = this.reader.written();
      if (writing === undefined) return this.answerAll(frames);
      // Pauses the output, so that it isn't read faster than the disk writes.
      output.pause();
      void this.answerWritten(writing, frames, output);
    } catch {
      // The bytes aren't frames, so the child may be compromised.
      this.kill("crash");
    }
  }

  private async answerWritten(writing: Promise<void>, frames: readonly Frame[], output: Readable): Promise<void> {
    await writing;
    if (this.isKilled) for (const { spooled = [] } of frames) spooled.forEach(letGo);
    else this.answerAll(frames);
    output.resume();
  }

  private get isKilled(): boolean {
    return this.end !== undefined && this.end !== "retired";
  }

  private answerAll(frames: readonly Frame[]): void {
    try {
      for (const frame of frames) this.answer(frame);
    } catch {
      // The frame contains no result.
      this.kill("crash");
    }
  }

  private answer(frame: Frame): void {
    this.beginHead();
    if (this.isReady) {
      const result = decodeResult(frame);
      frame.release?.();
      const job = this.jobs.shift();
      if (job === undefined) throw new Error("an unexpected answer");
      if (job.isAbandoned) letGoChildren(result);
      else job.settle(result);
    } else {
      this.isReady = true;
    }
    if (this.jobs.length === 0) this.idleSince = this.headSince;
    this.events.onIdleOrAnswered();
  }

  private onClose(code: number | null, signal: NodeJS.Signals | null): void {
    this.end = this.closeReason(code, signal);
    this.reader.abandon();
    this.events.onEnd(this.end, this.jobs.splice(0), signal ?? `exit code ${code ?? "unknown"}`, this.startError);
  }

  private closeReason(code: number | null, signal: NodeJS.Signals | null): ChildEnd {
    const isGoodEnd = this.end === "retired" && this.jobs.length === 0;
    if (this.end !== undefined && (this.end !== "retired" || isGoodEnd)) return this.end;
    if (!this.isReady) return "never_started";
    // A process whose heap reaches its cap aborts.
    return signal === "SIGABRT" || code === 134 ? "memory" : "crash";
  }
}

function letGoChildren(result: Extracted | NotExtracted): void {
  if (result.state === "ok") for (const { bytes } of result.children ?? []) letGo(bytes);
}

/** Resolves when more can be written, or when nothing can be written any more. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
