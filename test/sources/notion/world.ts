/** Where something is in the fake. */
export type Where = { page: string } | { source: string } | { block: string } | "workspace";

export interface FakeBlock {
  id: string;
  type: string;
  value: Record<string, unknown>;
  children: FakeBlock[];
  edited: number;
}

export interface FakePage {
  id: string;
  title: string;
  where: Where;
  edited: number;
  blocks: FakeBlock[];
  comments: { id: string; text: string; at: number }[];
  properties: Record<string, unknown>;
  isTrashed: boolean;
  /** The search does not know it yet. */
  isUnlisted: boolean;
  /** Whether the integration may read it. */
  isShared: boolean;
}

export interface FakeSource {
  id: string;
  database: string;
  title: string;
  where: Where;
}

export const USER = "aaaaaaaa-0000-4000-8000-000000000001";

/** A Notion workspace of a test. */
export class World {
  readonly pages = new Map<string, FakePage>();
  readonly sources = new Map<string, FakeSource>();
  /** Bytes of uploaded files by their path. */
  readonly files = new Map<string, string>();
  private count = 0;
  /** Notion tells times in minutes. */
  now = (): number => Date.now();

  id(): string {
    // Not in the order in which they were made.
    const n = ++this.count;
    const head = ((n * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, "0");
    return `${head}-0000-4000-8000-${String(n).padStart(12, "0")}`;
  }

  page(title: string, where: Where = "workspace", texts: readonly string[] = [`About ${title}.`]): FakePage {
    const page: FakePage = {
      id: this.id(),
      title,
      where,
      edited: this.now(),
      blocks: texts.map((text) => this.block("paragraph", { rich_text: rich(text) })),
      comments: [],
      properties: {},
      isTrashed: false,
      isUnlisted: false,
      isShared: true,
    };
    this.pages.set(page.id, page);
    return page;
  }

  source(title: string, where: Where = "workspace"): FakeSource {
    const source = { id: this.id(), database: this.id(), title, where };
    this.sources.set(source.id, source);
    return source;
  }

  block(type: string, value: Record<string, unknown> = {}, children: FakeBlock[] = []): FakeBlock {
    return { id: this.id(), type, value, children, edited: this.now() };
  }

  /** A file that was uploaded; each upload has a path of its own. */
  file(name: string, content: string): FakeBlock {
    return this.block("file", { type: "file", name, file: { path: this.upload(name, content) } });
  }

  upload(name: string, content: string): string {
    const path = `/store/${this.id()}/${encodeURIComponent(name)}`;
    this.files.set(path, content);
    return path;
  }

  touch(page: FakePage): void {
    page.edited = this.now();
  }

  find(id: string): { block: FakeBlock; page: FakePage } | undefined {
    for (const page of this.pages.values()) {
      const todo = [...page.blocks];
      for (let block = todo.pop(); block; block = todo.pop()) {
        if (block.id === id) return { block, page };
        todo.push(...block.children);
      }
    }
    return undefined;
  }
}

export function rich(text: string): unknown[] {
  return text === "" ? [] : [{ type: "text", text: { content: text }, plain_text: text, annotations: {} }];
}
