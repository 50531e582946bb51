import type { Attributes } from "./walk.ts";

/**
 * The part of a page that is its content: the `main` element, the `article` elements, the body without menus, headers, footers and asides, or
 * everything.
 */
export type Scope = "main" | "articles" | "body" | "everything";

/** Tracks, while a page is walked, which scopes the current position belongs to. */
export class ScopeTracker {
  private readonly stack: Kind[] = [];
  private readonly inside: Record<Kind, number> = { main: 0, article: 0, menu: 0, chrome: 0, head: 0, other: 0 };

  open(name: string, attributes: Attributes): void {
    const kind = this.kindOf(name, attributes["role"]?.toLowerCase());
    this.stack.push(kind);
    this.inside[kind]++;
  }

  close(): void {
    const kind = this.stack.pop();
    if (kind !== undefined) this.inside[kind]--;
  }

  contains(scope: Scope): boolean {
    const { main, article, menu, chrome, head } = this.inside;
    if (head > 0) return false;
    if (scope === "main") return main > 0 && menu === 0;
    if (scope === "articles") return article > 0 && menu === 0;
    return scope === "everything" || (menu === 0 && chrome === 0);
  }

  private kindOf(name: string, role: string | undefined): Kind {
    if (name === "head") return "head";
    if (name === "main" || role === "main") return "main";
    if (name === "article" || role === "article") return "article";
    if (name === "nav" || role === "navigation" || role === "menu" || role === "menubar") return "menu";
    if (role !== undefined && CHROME_ROLES.has(role)) return "chrome";
    // A header or footer inside the content is part of it: it contains the title, the author, or the notes.
    const isInContent = this.inside.main > 0 || this.inside.article > 0;
    return name === "aside" || (!isInContent && (name === "header" || name === "footer")) ? "chrome" : "other";
  }
}

type Kind = "main" | "article" | "menu" | "chrome" | "head" | "other";

const CHROME_ROLES = new Set(["banner", "contentinfo", "complementary", "search", "toolbar"]);
