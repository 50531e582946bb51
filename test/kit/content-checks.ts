import { takeWhole } from "#core/spool.ts";
import type { FileContent, SourceItem } from "#sources/item.ts";
import { SPOOL } from "../spool.ts";
import { isApiError } from "#api/errors.ts";
import { faultOfVersion, readContent } from "#sources/content.ts";
import { failureOf, itemsOf, readAll, type SourceCheck } from "./check.ts";
import { contextOf } from "./fixture.ts";
import { makeReplica, runInto } from "./replica.ts";

export const content: SourceCheck = {
  id: "content",
  title: "content can be fetched, and that of an unknown id is source_not_found",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
    const item = itemsOf(events).find((candidate) => candidate.content.type === "fetch");
    const { source } = fixture;
    if (item === undefined) return [];
    if (source.fetchContent === undefined) return ["Items say fetch, but there is no fetchContent."];
    const faults: string[] = [];
    const file = await source.fetchContent(contextOf(fixture), {
      externalId: item.externalId,
      ...(item.content.type === "fetch" && item.content.ref !== undefined && { ref: item.content.ref }),
      ...(item.version !== undefined && { version: item.version }),
    });
    const [bytes, { fileName }] = [await readContent(file, SPOOL), file];
    if (!bytes || bytes.length === 0 || fileName === "")
      faults.push(`${item.externalId} gave no bytes or no file name.`);
    try {
      await source.fetchContent(contextOf(fixture), { externalId: "kb-kit-no-such-item" });
      faults.push("An unknown id gave content.");
    } catch (error) {
      if (!isApiError(error, "source_not_found")) faults.push(`An unknown id threw ${String(error)}.`);
    }
    return faults;
  },
};

export const strangeContent: SourceCheck = {
  id: "strange-content",
  title: "an id that is no item's gives no content, whatever path it looks like",
  isReading: true,
  async run(fixture) {
    const { source } = fixture;
    const faults: string[] = [];
    for (const externalId of source.fetchContent ? STRANGE_IDS : []) {
      const error = await failureOf(Promise.resolve(source.fetchContent?.(contextOf(fixture), { externalId })));
      if (error === undefined) faults.push(`${JSON.stringify(externalId)} gave content.`);
      else if (!isApiError(error, "source_not_found"))
        faults.push(`${JSON.stringify(externalId)} threw ${String(error)}.`);
    }
    return faults;
  },
};

export const contentVersion: SourceCheck = {
  id: "content-version",
  title:
    "content that is newer than its listing does not pass for the listed version; where permissions are mirrored it says which it is",
  async run(fixture) {
    const { source } = fixture;
    if (!source.fetchContent) return [];
    const isMirror = source.spec.acl !== "connector";
    const replica = makeReplica();
    await runInto(fixture, replica);
    const externalId = await fixture.edit();
    const listed = replica.items.get(externalId);
    if (listed?.content.type !== "fetch") return [];
    const before = await wholeOf(await source.fetchContent(contextOf(fixture), toRequest(listed)));
    await runInto(fixture, replica, { mode: "incremental" });
    const now = replica.items.get(externalId);
    if (now === undefined) return [`${externalId} is gone after an edit.`];
    const after = await source.fetchContent(contextOf(fixture), toRequest(now));
    const isOther = after.version !== undefined && after.version !== now.version;
    if (isOther || faultOfVersion(source.spec, now.version, after) !== undefined)
      return [`${externalId} has content of another version than it was listed with.`];
    const isNewer = before.equals(await wholeOf(after));
    if (!isNewer) return [];
    const said = await source.fetchContent(contextOf(fixture), toRequest(listed));
    const isSaid = isMirror
      ? faultOfVersion(source.spec, listed.version, said) === "other"
      : said.version !== listed.version;
    return isSaid ? [] : [`${externalId} was asked for as it was listed, and gave newer content without its version.`];
  },
};

function toRequest({ externalId, content, version }: SourceItem) {
  const ref = content.type === "fetch" ? content.ref : undefined;
  return { externalId, ...(ref !== undefined && { ref }), ...(version !== undefined && { version }) };
}

const STRANGE_IDS = [
  "../etc/passwd",
  "../../../../../../etc/passwd",
  "/etc/passwd",
  "a/../../etc/passwd",
  "..",
  "%2e%2e/x",
  "a\0b",
];

async function wholeOf(content: FileContent): Promise<Buffer> {
  const bytes = await readContent(content, SPOOL);
  return Buffer.from(bytes ? await takeWhole(bytes) : []);
}
