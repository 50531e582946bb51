import { z } from "zod";
import type { SourceState } from "#sources/context.ts";
import type { Site } from "./config.ts";

/** A page to visit. */
export interface QueueEntry {
  url: URL;
  /** The number of links from the start page. */
  depth: number;
  /** The last modification according to the sitemap. */
  lastmod?: number;
}

/** The most addresses with the same path and different queries. */
const MAX_VARIANTS = 20;
/** The most characters in one chunk. A value of the state has at most 64 KiB. */
const CHUNK_CHARS = 60_000;

const Stored = z.array(z.tuple([z.string(), z.number(), z.number()]));

/**
 * The pages of a run, each once, in the order in which they were found. The queue only grows. It is stored in chunks in
 * the connector's state, so that a run can resume even if the site has changed in the meantime.
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

  /** Loads the queue that a run has stored. Returns false if it is no longer stored. */
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

  /** Returns the position of an address; undefined if the queue doesn't contain it. */
  placeOf(href: string): number | undefined {
    return this.places.get(href);
  }

  /**
   * Adds a page.
   * @param isNamed  true if a person or a sitemap named the page, so it isn't a variant that a program generated
   */
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
