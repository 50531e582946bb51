import { oneLine } from "#extract/clean.ts";
import { ScopeTracker, type Scope } from "./scope.ts";
import { walkHtml, type Attributes } from "./walk.ts";

/** Facts about a page from one quick pass. Lengths are numbers of visible characters without white space at the ends. */
export interface HtmlSurvey {
  title?: string;
  language?: string;
  properties: Record<string, string>;
  lengths: Record<Scope, number>;
  /** Whether each table contains data or is only used for layout, in the order of the opening tags. */
  isDataTable: boolean[];
  maxDepth: number;
}

/** Reads a page once before it is rendered. */
export function surveyHtml(html: string): HtmlSurvey {
  const survey: HtmlSurvey = {
    properties: {},
    lengths: { main: 0, articles: 0, body: 0, everything: 0 },
    isDataTable: [],
    maxDepth: 0,
  };
  const scopes = new ScopeTracker();
  const tables = new TableTracker(survey.isDataTable);
  const names: string[] = [];
  let title = "";
  walkHtml(html, {
    open(name, attributes) {
      names.push(name);
      if (names.length > survey.maxDepth) survey.maxDepth = names.length;
      scopes.open(name, attributes);
      tables.open(name, attributes);
      if (name === "html") readLanguage(attributes, survey);
      else if (name === "meta") readMeta(attributes, survey);
      return false;
    },
    close(name) {
      names.pop();
      scopes.close();
      tables.close(name);
    },
    text(data) {
      if (names.at(-1) === "title" && names.at(-2) !== "svg" && title.length < 1_000) title += data;
      const length = data.trim().length;
      if (length === 0 || !scopes.contains("everything")) return;
      survey.lengths.everything += length;
      if (scopes.contains("main")) survey.lengths.main += length;
      if (scopes.contains("articles")) survey.lengths.articles += length;
      if (scopes.contains("body")) survey.lengths.body += length;
    },
  });
  const line = oneLine(title, 300);
  if (line !== "") survey.title = line;
  return survey;
}

function readLanguage(attributes: Attributes, survey: HtmlSurvey): void {
  const language = /^[a-z]{2}(?=$|[-_])/iu.exec(attributes["lang"] ?? attributes["xml:lang"] ?? "")?.[0];
  if (language !== undefined) survey.language = language.toLowerCase();
}

/** The names under which pages state author, dates and so on, with our names. The first name that is present is used. */
const META_PROPERTIES: Readonly<Record<string, string>> = {
  author: "author",
  "article:author": "author",
  "dc.creator": "author",
  "dcterms.creator": "author",
  date: "date",
  "dc.date": "date",
  "dcterms.date": "date",
  "article:published_time": "date",
  "article:modified_time": "modified",
  "last-modified": "modified",
  "dcterms.modified": "modified",
  description: "description",
  "og:description": "description",
  keywords: "keywords",
  generator: "generator",
};

function readMeta(attributes: Attributes, survey: HtmlSurvey): void {
  const name = (attributes["name"] ?? attributes["property"] ?? "").toLowerCase();
  const property = Object.hasOwn(META_PROPERTIES, name) ? META_PROPERTIES[name] : undefined;
  const value = oneLine((attributes["content"] ?? "").slice(0, 2_000), 500);
  if (property !== undefined && value !== "") survey.properties[property] ??= value;
}

/** Detects data tables: a table contains data if it contains no other table, heading or code block, and a row has two cells. */
class TableTracker {
  private readonly isDataTable: boolean[];
  private readonly openTables: { index: number; cells: number; isLayout: boolean; hasColumns: boolean }[] = [];

  constructor(isDataTable: boolean[]) {
    this.isDataTable = isDataTable;
  }

  open(name: string, attributes: Attributes): void {
    const table = this.openTables.at(-1);
    if (name === "table") {
      for (const outer of this.openTables) outer.isLayout = true;
      const isLayout = /^(?:presentation|none)$/iu.test(attributes["role"] ?? "");
      this.openTables.push({ index: this.isDataTable.length, cells: 0, isLayout, hasColumns: false });
      this.isDataTable.push(false);
    } else if (table === undefined) {
      return;
    } else if (name === "tr") {
      table.cells = 0;
    } else if (name === "td" || name === "th") {
      table.cells++;
      table.hasColumns ||= table.cells > 1;
    } else if (name === "pre" || /^h[1-6]$/u.test(name)) {
      table.isLayout = true;
    }
  }

  close(name: string): void {
    const table = name === "table" ? this.openTables.pop() : undefined;
    if (table !== undefined) this.isDataTable[table.index] = table.hasColumns && !table.isLayout;
  }
}
