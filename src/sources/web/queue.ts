import { z } from "zod";
import type { SourceState } from "#sources/context.ts";
import type { Site } from "./config.ts";

/** A page to visit. */
export interface QueueEntry {
  url: URL;
  /** Links from the start. */
  depth: number;
  /** From the sitemap. */
  lastmod?: number;
}

/** Addresses with different queries at one path. */
const MAX_VARIANTS = 20;
/** A value of the state has 64 KiB. */
const CHUNK_CHARS = 60_000;

const Stored = z.array(z.tuple([z.string(), z.number(), z.number()]));

/**
 * The pages of a run in the order in which they were found, each once. It only grows, and is kept in chunks in the
 * connector's state, so that a run can resume however the site changed in the meantime.
 */
export class CrawlQueue {
  private readonly entries: QueueEntry[] = [];
  private readonly places = new Map<string, number>();
  private readonly variants = new Map<string, number>();
  private readonly chunks: [string, number, number][][] = [];
  private readonly sizes: number[] = [];
  private dirtyFrom = 0;
  private readonly site: Site;
  private readonly most: number;

  constructor(site: Site, most: number) {
    this.site = site;
    this.most = most;
  }

  /** Loads what a run has stored. False when it is no longer there. */
  async load(state: SourceState, chunks: number): Promise<boolean> {
    for (let i = 0; i < chunks; i++) {
      const stored = Stored.safeParse(await state.get(keyOf(i)));
      if (!stored.success) return false;
      for (const [path, depth, lastmod] of stored.data) {
        const url = new URL(this.site.origin + path);
        this.add({ url, depth, ...(lastmod !== 0 && { lastmod }) }, { isNamed: true });
      }
    }
    this.dirtyFrom = this.chunks.length;
    return true;
  }

  get length(): number {
    return this.entries.length;
  }

  get chunkCount(): number {
    return this.chunks.length;
  }

  at(index: number): QueueEntry | undefined {
    return this.entries[index];
  }

  /** Its position; undefined for an address that isn't in it. */
  placeOf(href: string): number | undefined {
    return this.places.get(href);
  }

  /** @param isNamed  a person or a sitemap named it: it isn't a variant that a program generated */
  add(entry: QueueEntry, { isNamed }: { isNamed: boolean }): void {
    const { href, pathname, search } = entry.url;
    if (this.places.has(href) || this.entries.length >= this.most) return;
    if (search !== "") {
      const variants = this.variants.get(pathname) ?? 0;
      if (!isNamed && variants >= MAX_VARIANTS) return;
      this.variants.set(pathname, variants + 1);
    }
    this.places.set(href, this.entries.length);
    this.entries.push(entry);
    const row: [string, number, number] = [href.slice(this.site.origin.length), entry.depth, entry.lastmod ?? 0];
    const size = JSON.stringify(row).length + 1;
    const last = this.chunks.length - 1;
    if (last < 0 || (this.sizes[last] ?? 0) + size > CHUNK_CHARS) {
      this.chunks.push([row]);
      this.sizes.push(size + 2);
    } else {
      this.chunks[last]?.push(row);
      this.sizes[last] = (this.sizes[last] ?? 0) + size;
    }
    this.dirtyFrom = Math.min(this.dirtyFrom, this.chunks.length - 1);
  }

  /** Writes new entries to the state. */
  save(state: SourceState): void {
    for (let i = this.dirtyFrom; i < this.chunks.length; i++) state.put(keyOf(i), this.chunks[i]);
    this.dirtyFrom = this.chunks.length;
  }

  /** Deletes the queue at the end of a run. */
  drop(state: SourceState): void {
    for (let i = 0; i < this.chunks.length; i++) state.put(keyOf(i), undefined);
  }
}

function keyOf(chunk: number): string {
  return `queue:${chunk}`;
}
