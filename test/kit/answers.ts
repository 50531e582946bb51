import { makeResponse } from "#sources/http/body.ts";
import type { SourceHttp, SourceResponse } from "#sources/http-contract.ts";

/** Changes a JSON answer on its way to the source. */
export type Rewrite = (url: string, value: unknown) => unknown;

/** A list of records in an answer: of which request, and where in it. The same for every page of one listing. */
export interface RecordList {
  kind: string;
  records: unknown[];
  /** Keys above it that are names of things. */
  names: string[];
  /** What the list stands in; an end mark stands beside it. */
  holder: Record<string, unknown> | undefined;
}

/** The same way out, with every JSON answer rewritten. */
export function rewriting(http: SourceHttp, rewrite: Rewrite): SourceHttp {
  const rewritten = (answer: SourceResponse) => rewriteOne(answer, rewrite);
  return {
    request: async (request) => rewritten(await http.request(request)),
    stream: (request) => http.stream(request),
    async *pages(first, next) {
      for await (const page of http.pages(first, (one) => next(rewritten(one)))) yield rewritten(page);
    },
    get sent() {
      return http.sent;
    },
    until: (signal) => rewriting(http.until(signal), rewrite),
  };
}

function rewriteOne(answer: SourceResponse, rewrite: Rewrite): SourceResponse {
  if (answer.status !== 200 || !/json/i.test(answer.headers.get("content-type") ?? "")) return answer;
  const text = JSON.stringify(rewrite(answer.url, answer.json()));
  const { status, headers, url } = answer;
  return makeResponse({ status, headers, url }, new TextEncoder().encode(text), new URL(url).host);
}

/** Every list of two or more records in an answer, wherever it stands; it may be changed in place. */
export function listsIn(url: string, value: unknown): RecordList[] {
  const found: RecordList[] = [];
  const look = (at: unknown, path: string, names: string[], holder?: Record<string, unknown>) => {
    if (Array.isArray(at)) {
      if (at.length > 1 && at.every(isRecord))
        found.push({ kind: `${routeOf(url)} ${path}`, records: at, names, holder });
      for (const each of at) look(each, `${path}[]`, names);
    } else if (isRecord(at)) {
      for (const [key, inner] of Object.entries(at)) {
        const isName = !/^[\w.]{1,40}$/.test(key);
        look(inner, `${path}.${isName ? "*" : key}`, isName ? [...names, key] : names, at);
      }
    }
  };
  look(value, "", []);
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The path without what differs from one thing to the next. */
export function routeOf(url: string): string {
  const names = new URL(url).pathname.split("/").filter((name) => name !== "");
  return names.map((name) => (/^[a-z][a-z_.-]*$|^v?\d{1,2}$/i.test(name) ? name : "*")).join("/");
}
