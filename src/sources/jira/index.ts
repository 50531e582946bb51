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
import { type JiraContext, makeJiraClient } from "./client.ts";
import { JiraConfig } from "./config.ts";
import { parseId } from "./ids.ts";
import { fileNameOf, nameOf } from "./map.ts";
import { syncJiraPeople } from "./people.ts";
import { jiraSessions } from "./sync.ts";
import { jiraWebhook } from "./webhook.ts";

/**
 * Makes the source for the issues of a Jira site, with their comments and attachments, readable by the people who may
 * browse them there.
 */
export function makeJiraSource({
  limits = ATLASSIAN_LIMITS,
  batching = {},
}: { limits?: LimitSpec; batching?: Partial<Batching> } = {}): Source<JiraConfig> {
  return {
    spec: {
      providerId: "jira",
      name: "Jira",
      kinds: ["task", "message", "file"],
      auth: ATLASSIAN_AUTH,
      config: JiraConfig,
      credentials: AtlassianCredentials,
      limits,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "per_item",
      // Schemes change without a change of any issue, and no search shows that an issue moved to an invisible project.
      freshness: "access",
      placement: "listing",
      hasPeople: true,
      // An attachment is never rewritten: another file has another id.
      hasLastingContent: true,
    },
    check: checkSite,
    sessions: { ...jiraSessions, batching },
    syncIdentities: syncJiraPeople,
    async browse(ctx, at) {
      const projects = await makeJiraClient(ctx).projects();
      return toRoomsPage(
        projects.map((project) => ({ id: project.id, name: `${nameOf(project)} (${project.key})`, kind: "project" })),
        at,
      );
    },
    fetchContent: readAttachment,
    inScope: inScopeBy("project"),
    webhook: jiraWebhook,
    baseUrlOf,
  };
}

/**
 * Reads an attachment. First checks whether it still belongs to the issue, since a copy may remain at the old place.
 */
async function readAttachment(ctx: JiraContext, { externalId }: { externalId: string }): Promise<FileContent> {
  const { issue, part } = parseId(externalId) ?? {};
  const client = makeJiraClient(ctx);
  const isFile = issue !== undefined && part?.type === "attachment";
  const there = isFile ? ((await client.issue(issue, ["project", "attachment"])).fields.attachment ?? []) : [];
  const file = there.find(({ id }) => id === part?.id);
  if (!file) {
    const message = `There is no attachment ${shown(externalId)} on an issue of this site.`;
    throw notFound(message);
  }
  const { body } = await client.download(file, maxFileBytes(ctx.config));
  return { stream: body, fileName: fileNameOf(file), ...defined({ mimeType: file.mimeType }) };
}
