import { setImmediate as breath } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cleanField, cleanLine, cleanMarked, cut } from "#api/clean.ts";
import { parseDays } from "#api/days.ts";
import { replaceEach } from "#api/replace-each.ts";
import { excerptLine, excerptLines, wrapLine } from "#cli/terminal/excerpt.ts";
import { safeJson, wrapTalk } from "#cli/terminal/output.ts";
import { fit } from "#cli/terminal/table.ts";
import { expandTemplate } from "#core/url-template.ts";
import { isLoop } from "#core/hops.ts";
import { textOfStorage } from "#sources/confluence/storage.ts";
import { closest } from "#core/edit-distance.ts";
import { decodeNamed, decodeWords } from "#core/encoded-words.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { decodeStateful } from "#core/encodings/stateful.ts";
import { findJsonFault } from "#core/json-bounds.ts";
import { readHits, readText } from "#mcp-client/hits.ts";
import { readBlock, readContent, readResource, readServerInfo, readTemplate, readTool } from "#mcp-client/read.ts";
import { readFields } from "#mcp-client/schema.ts";
import { shorten } from "#server/mcp/entry.ts";
import { readArguments } from "#server/mcp/arguments.ts";
import { factTexts, fieldText, personName } from "#server/mcp/facts.ts";
import { makeTokenCounter } from "#server/mcp/token-counter.ts";
import { tryJson } from "#core/json-record.ts";
import { endOfString, exactText, memberText, rpcText } from "#core/json-text.ts";
import { nearestName } from "#server/mcp/nearest-name.ts";
import { formatForPeople } from "#server/log/log-lines.ts";
import { itemFields } from "#server/sync/items/item-fields.ts";
import { maskItem } from "#server/sync/items/mask-item.ts";
import { textOfAdf } from "#sources/atlassian/adf.ts";
import {
  bytesOf,
  foldersAbove,
  hasByteSegment,
  idIn,
  inUrl,
  isByteSegment,
  lastSegmentOf,
  pathOf as pathOfBytes,
  plainPath,
  readableSegment,
  segmentOf,
  segmentsOf,
} from "#sources/file-scope/paths.ts";
import { compilePatterns } from "#sources/file-scope/patterns.ts";
import { foldersOf } from "#sources/file-scope/folders.ts";
import { nameOf as nameOfFolder } from "#sources/imap/folders.ts";
import { parsePushLine } from "#sources/push/lines.ts";
import { typeOf } from "#sources/s3/map.ts";
import { isOwnKey } from "#sources/s3/sync.ts";
import { readXml } from "#sources/s3/xml.ts";
import { siteOf, type WebConfig } from "#sources/web/config.ts";
import { decodePage, readPage } from "#sources/web/page.ts";
import { toRobots } from "#sources/web/robots.ts";
import { makeRobotsRules } from "#sources/web/robots-rules.ts";
import { readSitemap } from "#sources/web/sitemap-xml.ts";
import { pageUrl, sameOrigin } from "#sources/web/urls.ts";
import { parseVersion } from "#sources/web/version.ts";
import { pathOf } from "#sources/webdav/client.ts";
import { readMultistatus } from "#sources/webdav/multistatus.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { foldWord } from "#text/fold.ts";
import { isMail } from "#text/mail.ts";
import { findMarks, makeMarks } from "#text/marks.ts";
import { orderOf } from "#text/order.ts";
import { ownTitle } from "#text/own-title.ts";
import { parseQuery } from "#text/query.ts";
import { findSection } from "#text/sections.ts";
import { bestSnippets, findPassages } from "#text/snippet.ts";

const WEB: WebConfig = { url: "https://a.test/", userAgent: "kb" } as WebConfig; // the two members that are read here
const SITE = siteOf(WEB);

type Call = (text: string) => unknown;

const MARKS = makeMarks("alpha beta");
const TIME = { now: 0, timeZone: "UTC", baseUrl: "https://kb.test" };
const CAPS = { schemaBytes: 64 * 1024, schemaDepth: 32 };
const plain = (text: string) => text;
/** For those that are given it twice. */
const half = (text: string) => text.slice(0, text.length / 2);
const tokensOf = makeTokenCounter((text) => countTokens(text, { disallowedSpecial: new Set() }));

/** How those that need more than a text are called, and those that begin with something else but read one. */
export const CASES: Readonly<Record<string, Call>> = {
  "src/core/encodings/decode.ts#decodeText": (text) => [
    decodeText(Buffer.from(text), text.length),
    decodeText(Buffer.from(text, "latin1"), text.length, text),
  ],
  "src/core/encodings/stateful.ts#decodeStateful": (text) => decodeStateful(Buffer.from(text), "iso-2022-kr"),
  "src/core/json-bounds.ts#findJsonFault": (text) => findJsonFault(text, { maxDepth: 64, maxMembers: 1_000_000 }),
  "src/core/json-record.ts#tryJson": (text) => tryJson(text),
  "src/core/json-text.ts#memberText": (text) => memberText(JSON.stringify({ [half(text)]: half(text), id: 1 }), "id"),
  "src/core/json-text.ts#exactText": (text) =>
    exactText(2 ** 60, JSON.stringify({ [half(text)]: half(text), id: 1 }), "id"),
  "src/core/json-text.ts#rpcText": (text) => rpcText("1", { text }),
  "src/core/json-text.ts#endOfString": (text) => endOfString(text, 0),
  "src/sources/confluence/storage.ts#textOfStorage": (text) => textOfStorage(text, () => "Mia"),
  "src/core/edit-distance.ts#closest": (text) => closest(text, ["limit", "query"], 3),
  "src/core/encoded-words.ts#decodeWords": (text) => [
    decodeWords(text, decodeNamed),
    decodeWords(`=?a?b?${text}?=`, decodeNamed),
  ],
  "src/core/encoded-words.ts#decodeNamed": (text) => [
    decodeNamed(Buffer.from(text), "windows-1252"),
    decodeNamed(Buffer.from("a"), text),
  ],
  "src/server/mcp/nearest-name.ts#nearestName": (text) => nearestName(text, ["query", "limit", "sortBy"]),
  "src/api/clean.ts#cleanLine": (text) => cleanLine(text, 200),
  "src/api/clean.ts#cleanField": (text) => cleanField(text, 200),
  "src/api/clean.ts#cleanMarked": (text) =>
    cleanMarked(
      text,
      Array.from({ length: 200 }, (_, at) => ({ start: at * 100, end: at * 100 + 50 })),
    ),
  "src/api/replace-each.ts#replaceEach": (text) => [
    replaceEach(text, "\n", "\n> "),
    replaceEach(text, "![", "! [", (all, end) => all.charCodeAt(end) !== 0x61),
  ],
  "src/api/clean.ts#cut": (text) => cut(text, Math.floor(text.length / 2)),
  "src/api/days.ts#parseDays": (text) => parseDays(text, 0, "UTC"),
  "src/cli/terminal/excerpt.ts#excerptLines": (text) => excerptLines(text, [], { width: 80, most: 3, bold: plain }),
  "src/cli/terminal/excerpt.ts#wrapLine": (text) => wrapLine(text, 80),
  "src/cli/terminal/excerpt.ts#excerptLine": (text) => excerptLine(text, [], plain),
  "src/cli/terminal/output.ts#wrapTalk": (text) => wrapTalk(text, { isStderrTty: true, columns: () => 80 }),
  "src/cli/terminal/output.ts#safeJson": (text) => safeJson({ text }, 2),
  "src/cli/terminal/table.ts#fit": (text) => fit(text, 40),
  "src/core/hops.ts#isLoop": (text) => isLoop([text], "kb"),
  "src/core/url-template.ts#expandTemplate": (text) => expandTemplate("{base}/x", { base: text }),
  "src/mcp-client/hits.ts#readHits": (text) => [
    readHits({ content: [], structured: { results: [{ id: "1", title: text, url: text, date: text, text }] } }),
    readHits({ content: [{ type: "text", text }] }),
  ],
  "src/mcp-client/hits.ts#readText": (text) => readText({ content: [{ type: "text", text }] }),
  "src/mcp-client/read.ts#readTool": (text) => [
    readTool({ name: half(text), inputSchema: {} }, CAPS),
    readTool({ name: "t", title: text, description: text, inputSchema: { properties: { [half(text)]: {} } } }, CAPS),
  ],
  "src/mcp-client/read.ts#readResource": (text) => [
    readResource({ uri: text }),
    readResource({
      uri: "a:b",
      name: text,
      title: text,
      description: text,
      mimeType: text,
      annotations: { lastModified: text },
    }),
  ],
  "src/mcp-client/read.ts#readTemplate": (text) => [
    readTemplate({ uriTemplate: text }),
    readTemplate({ uriTemplate: "a:b", name: text, title: text, description: text, mimeType: text }),
  ],
  "src/mcp-client/read.ts#readContent": (text) => [
    readContent({ uri: "a:b", text, mimeType: text }),
    readContent({ uri: "a:b", blob: text }),
  ],
  "src/mcp-client/read.ts#readBlock": (text) => [
    readBlock({ type: text, text }),
    readBlock({ type: "resource_link", uri: "a:b", name: text }),
  ],
  "src/mcp-client/read.ts#readServerInfo": (text) => readServerInfo({ name: text, title: text, version: text }),
  "src/mcp-client/schema.ts#readFields": (text) =>
    readFields({ properties: { a: { description: text, enum: [text] }, [text]: {} }, $ref: text }),
  "src/server/log/log-lines.ts#formatForPeople": (text) => formatForPeople(JSON.stringify({ msg: text }), true),
  "src/server/mcp/arguments.ts#readArguments": (text) =>
    [
      { query: text },
      { kind: text },
      { status: text },
      { limit: text },
      { cursor: text },
      { live: text },
      { after: text },
      { [text]: 1 },
    ].map((args) => outcomeOf(() => readArguments("kb_search", args))),
  "src/server/mcp/entry.ts#shorten": (text) => shorten(text, 500),
  "src/server/mcp/facts.ts#fieldText": (text) => fieldText(text, 200),
  "src/server/mcp/facts.ts#personName": (text) => personName({ name: text, claimed: false }),
  "src/server/mcp/facts.ts#factTexts": (text) => factTexts({ path: cleanField(text, 200) }, TIME),
  "src/server/sync/items/item-fields.ts#itemFields": (text) =>
    itemFields({ a: text, b: [text] }, { to: text, [text]: text }),
  "src/server/sync/items/mask-item.ts#maskItem": (text) =>
    maskItem({
      externalId: "1",
      kind: "page",
      title: half(text),
      access: { known: false },
      content: { type: "inline", text: half(text) },
    }),
  "src/sources/atlassian/adf.ts#textOfAdf": (text) =>
    textOfAdf({ type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text }] }] }),
  "src/sources/file-scope/folders.ts#foldersOf": (text) => foldersOf([text], plain),
  "src/sources/file-scope/paths.ts#segmentOf": (text) => segmentOf(Buffer.from(`\xe4${text}`, "latin1")),
  "src/sources/file-scope/paths.ts#pathOf": (text) => pathOfBytes(Buffer.from(`\xe4/${text}`, "latin1")),
  "src/sources/file-scope/paths.ts#segmentsOf": (text) =>
    pathsOf(text).forEach((path) => segmentsOf(`./%E4/./${path}%E4`)),
  "src/sources/file-scope/paths.ts#isByteSegment": (text) => isByteSegment(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#hasByteSegment": (text) => hasByteSegment(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#bytesOf": (text) => bytesOf(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#plainPath": (text) => plainPath(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#readableSegment": (text) => readableSegment(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#lastSegmentOf": (text) => lastSegmentOf(`./${text}%E4`),
  "src/sources/file-scope/paths.ts#idIn": (text) => idIn(text, text),
  "src/sources/file-scope/paths.ts#foldersAbove": (text) =>
    pathsOf(text).forEach((path) => countOf(foldersAbove(path))),
  "src/sources/file-scope/paths.ts#inUrl": (text) => inUrl(`${half(text)}/./${half(text)}%E4`),
  "src/sources/file-scope/patterns.ts#compilePatterns": (text) => compilePatterns([text]),
  "src/sources/web/robots.ts#toRobots": (text) => outcomeOf(() => toRobots(text, WEB)),
  "src/sources/web/urls.ts#pageUrl": (text) => pageUrl(`https://a.test/${text}`, SITE.start, SITE),
  "src/sources/web/urls.ts#sameOrigin": (text) => sameOrigin(text, SITE.start, SITE),
  "src/sources/webdav/client.ts#pathOf": (text) => outcomeOf(() => pathOf(`/${text}`, SITE.start, "h")),
  "src/text/order.ts#orderOf": (text) => orderOf([text, `${text}a`]),
  // A query has at most 4,000 characters.
  "src/text/query.ts#parseQuery": (text) => parseQuery(text.slice(0, 4_000)),
  "src/text/marks.ts#makeMarks": (text) => makeMarks(text.slice(0, 4_000)),
  "src/sources/imap/folders.ts#nameOf": (text) => nameOfFolder(text, "/"),
  "src/sources/push/lines.ts#parsePushLine": (text) => [
    parsePushLine(half(text), 1, "p"),
    parsePushLine(
      JSON.stringify({ t: "upsert", item: { externalId: "1", kind: "page", title: "a", text: half(text) } }),
      1,
      "p",
    ),
  ],
  "src/server/mcp/token-counter.ts#makeTokenCounter": (text) => tokensOf(text),
  "src/sources/s3/sync.ts#isOwnKey": (text) => isOwnKey(text, { prefix: "a/" }),
  "src/sources/s3/map.ts#typeOf": (text) => typeOf(text, text),
  "src/sources/s3/xml.ts#readXml": (text) => outcomeOf(() => readXml(`<a>${text}</a>`, "h")),
  "src/sources/web/page.ts#decodePage": (text) => decodePage(Buffer.from(text), text.slice(0, 8_000)),
  "src/sources/web/page.ts#readPage": (text) => readPage(text, "kb", null),
  "src/sources/web/robots-rules.ts#makeRobotsRules": (text) => {
    const rules = makeRobotsRules("kb");
    rules.add(text);
    rules.addHeader(text);
    return rules.result();
  },
  "src/sources/web/sitemap-xml.ts#readSitemap": (text) => readAll(text),
  "src/sources/web/version.ts#parseVersion": (text) => parseVersion(text, "k"),
  "src/sources/webdav/multistatus.ts#readMultistatus": (text) =>
    readMultistatus(pieces(text), "h").catch(() => undefined),
  "src/text/analyzer.ts#analyzeDocument": (text) =>
    analyzeDocument({ title: cut(text, 200), path: [], labels: [], text: "" }),
  // The prefix of a query; other words are shorter.
  "src/text/fold.ts#foldWord": (text) => foldWord(text.slice(0, 4_000)),
  "src/text/mail.ts#isMail": (text) => isMail(text, text),
  "src/text/marks.ts#findMarks": (text) => findMarks(text, MARKS),
  "src/text/own-title.ts#ownTitle": (text) => ownTitle(text, "name"),
  "src/text/sections.ts#findSection": (text) => findSection([{ name: "a", level: 1, start: 0 }], text),
  "src/text/snippet.ts#bestSnippets": (text) => bestSnippets([{ start: 0, text }], MARKS, { maxChars: 500 }),
  "src/text/snippet.ts#findPassages": (text) => findPassages([{ start: 0, text }], MARKS),
};

/** What never gets a text of others, or gets it after somebody cut it. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  "src/server/mcp/facts.ts#withDistance": "kb's own names",
  "src/sources/filesystem/root.ts#systemPath": "plainPath and bytesOf, tried here",
  "src/sources/git-repository/objects.ts#objectAt": "bytesOf, tried here",
  "src/core/spawn.ts#startProgram": "a program that kb names itself",
  "src/server/mcp/facts.ts#formerText": "a day that kb wrote",
  "src/server/mcp/fitting.ts#fits": "counts in a thread of its own, by makeTokenCounter",
  "src/server/mcp/fitting.ts#sizeOf": "counts in a thread of its own, by makeTokenCounter",
  "src/sources/file-scope/readers.ts#readersGroup": "kb's own names",
  "src/sources/forge/map.ts#userPrincipal": "kb's own names",
  "src/sources/git-repository/failures.ts#toCheckProblem": "an error, not a text",
  "src/sources/listed.ts#namelessSkip": "puts a source's own words into an event",
  "src/sources/listed.ts#idAt": "a key that a source names",
  "src/sources/failures.ts#failedSkip": "puts two texts into an event as they are",
  "src/sources/failures.ts#leftOut": "puts two texts into an event as they are",
  "src/sources/failures.ts#refused": "puts two texts into an event as they are",
  "src/sources/digest.ts#digestOf": "a version's parts, which others cut",
  "src/sources/principals.ts#sourceGroup": "kb's own names",
  "src/sources/webhook.ts#hmacOf": "a secret or its key",
  "src/sources/webhook.ts#isSame": "a secret or its key",
  "src/sources/atlassian/signature.ts#readSigned": "a secret or its key",
  "src/api/clean.ts#permalinkOf": "kb's own names",
  "src/core/operator-proof.ts#deriveFolderKey": "a secret or its key",
  "src/core/operator-proof.ts#makeOperatorProof": "a secret or its key",
  "src/core/operator-proof.ts#isOperatorProof": "a secret or its key",
  "src/core/base-url.ts#instanceName": "kb's own names",
  "src/core/child-ids.ts#childExternalId": "kb's own names",
  "src/core/child-ids.ts#isInside": "kb's own names",
  "src/server/mcp/revisions.ts#revisionOfHeader": "kb's own names",
  "src/sources/chat/rooms.ts#roomGroup": "kb's own names",
  "src/sources/chat/thread.ts#versionOfFile": "kb's own names",
  "src/sources/forge/ids.ts#readersGroup": "kb's own names",
  "src/sources/google-drive/map.ts#versionOf": "kb's own names",
  "src/sources/imap/folders.ts#idOf": "kb's own names",
  "src/sources/jira/ids.ts#partId": "kb's own names",
  "src/sources/jira/map.ts#partsIn": "kb's own names",
  "src/sources/matrix/map.ts#threadId": "kb's own names",
  "src/sources/matrix/map.ts#fileId": "kb's own names",
  "src/sources/slack/map.ts#threadId": "kb's own names",
  "src/sources/s3/keys.ts#noKey": "kb's own names",
  "src/mcp-client/failures.ts#problemOf": "an error, not a text",
  "src/sources/http/buckets.ts#rateLimited": "an error, not a text",
  "src/sources/http/failures.ts#unreachable": "an error, not a text",
  "src/sources/left-out.ts#askAgain": "an error, not a text",
  "src/sources/containers.ts#byNumber": "compares two texts",
  "src/sources/state-key.ts#stateKeyOf": "makes the key of one id",
  "src/sources/filesystem/open-inside.ts#byCodeUnits": "compares two texts",
  "src/sources/s3/keys.ts#compareKeys": "compares two texts",
  "src/core/spawn.ts#findPackageRoot": "a place on this machine",
  "src/sources/filesystem/root.ts#openRoot": "a place on this machine",
  "src/sources/filesystem/root.ts#isWithin": "a place on this machine",
  "src/sources/filesystem/root.ts#isForbidden": "a place on this machine",
  "src/sources/file-scope/outside-roots.ts#outsideRoots": "a place on this machine",
  "src/sources/git-repository/local.ts#openLocal": "a place on this machine",
  "src/sources/confluence/restrictions.ts#readRestriction": "a schema judges an answer of JSON",
  "src/sources/forge/webhook.ts#verifyHook": "a secret or its key",
  "src/sources/http/minted.ts#appJwt": "a secret or its key",
  "src/sources/http/key-file.ts#readKeyFile": "a secret or its key",
  "src/text/default-titles.ts#isDefaultTitle": "a title that ownTitle has cut, tried there",
  "src/text/forms.ts#wordForm": "a word of at most 64 characters",
  "src/text/forms.ts#decompose": "a word of at most 64 characters",
  "src/text/stem-english.ts#stemEnglish": "a word of at most 64 characters",
  "src/text/stem-english.ts#writtenByHand": "a word of at most 64 characters",
  "src/server/mcp/messages.ts#readMessages": "a body that comes in pieces",
};

/** As many as so much text holds: no path is longer. */
function pathsOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / 4_096) }, (_, at) => text.slice(at * 4_096, (at + 1) * 4_096));
}

function countOf(values: Iterable<unknown>): number {
  let count = 0;
  for (const _ of values) count++;
  return count;
}

async function readAll(text: string): Promise<void> {
  const entries = readSitemap(pieces(text), "h", { left: 1 << 24, until: Infinity });
  try {
    while ((await entries.next()).done !== true);
  } catch {
    // Most of these are no sitemap.
  }
}

/** As an answer comes. */
async function* pieces(text: string): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536);
    await breath();
  }
}

/** What was thrown is an answer too. */
export function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
