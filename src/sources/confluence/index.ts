import { inScopeBy } from "#sources/in-scope.ts";
import { shown, notFound } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import { ATLASSIAN_AUTH, ATLASSIAN_LIMITS, AtlassianCredentials, baseUrlOf } from "#sources/atlassian/config.ts";
import { toRoomsPage } from "#sources/chat/rooms.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import type { Batching } from "#sources/session.ts";
import { checkSite } from "./check.ts";
import { type ConfluenceContext, makeConfluenceClient } from "./client.ts";
import { ConfluenceConfig } from "./config.ts";
import { countAdded } from "./count-added.ts";
import { parseId } from "./ids.ts";
import { fileNameOf, nameOf } from "./map.ts";
import { syncConfluencePeople } from "./people.ts";
import { isPersonal, spacesOf } from "./spaces.ts";
import { confluenceSessions } from "./sync.ts";
import { confluenceWebhook } from "./webhook.ts";

/**
 * Makes the source for a Confluence site: its pages and blog posts with their comments and attachments, readable by
 * their readers there.
 */
export function makeConfluenceSource({
  limits = ATLASSIAN_LIMITS,
  batching = {},
}: { limits?: LimitSpec; batching?: Partial<Batching> } = {}): Source<ConfluenceConfig> {
  return {
    spec: {
      providerId: "confluence",
      name: "Confluence",
      kinds: ["page", "message", "file"],
      auth: ATLASSIAN_AUTH,
      config: ConfluenceConfig,
      credentials: AtlassianCredentials,
      limits,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "per_item",
      // Restrictions change without a change of any page, and no search shows that a page moved.
      freshness: "access",
      placement: "listing",
      hasPeople: true,
      // An attachment is read by its number: a new version of the attachment has another number.
      hasLastingContent: true,
    },
    check: checkSite,
    sessions: { ...confluenceSessions, batching },
    syncIdentities: syncConfluencePeople,
    async browse(ctx, at) {
      const { known } = await spacesOf(makeConfluenceClient(ctx), ctx.config);
      return toRoomsPage(
        known.map((space) => ({
          id: space.id,
          name: `${nameOf(space)} (${space.key})`,
          kind: isPersonal(space) ? "personal space" : "space",
        })),
        at,
      );
    },
    countAdded: (ctx, change) => countAdded(makeConfluenceClient(ctx), ctx.config, change),
    fetchContent: readAttachment,
    inScope: inScopeBy("space"),
    webhook: confluenceWebhook,
    baseUrlOf,
  };
}

/** Reads an attachment. First checks whether it still belongs to its page, since a copy may remain at the old place. */
async function readAttachment(
  ctx: ConfluenceContext,
  { externalId, ref }: { externalId: string; ref?: string },
): Promise<FileContent> {
  const { type, id } = parseId(externalId) ?? {};
  const client = makeConfluenceClient(ctx);
  const record = type === "attachment" && id !== undefined ? await client.part({ type, id }) : undefined;
  const { container, version } = record ?? {};
  const [page, listed = String(version?.number)] = ref?.split(".") ?? [container?.id];
  const isThere = record?.type === "attachment" && container?.id === page;
  if (!isThere || id === undefined || page === undefined || !/^\d{1,9}$/.test(listed)) {
    const message = `There is no attachment ${shown(externalId)} on a page of this site.`;
    throw notFound(message);
  }
  const file = { id, page, title: record.title, version: listed };
  const { body } = await client.download(file, maxFileBytes(ctx.config));
  const mimeType = (record.extensions?.mediaType ?? record.metadata?.mediaType)?.slice(0, 200);
  return { stream: body, fileName: fileNameOf(record), ...defined({ mimeType }) };
}
