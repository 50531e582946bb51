import { z } from "zod";
import {
  readHookJson,
  type WebhookChange,
  type WebhookDelivery,
  type WebhookRequest,
  hmacOf,
  isSame,
} from "#sources/webhook.ts";
import { FORGE_CONTENT } from "./contract.ts";
import { partId, readersGroup, threadId } from "./ids.ts";

/** The headers that contain a notification's event and its signature. */
export interface HookHeaders {
  /** The headers with the signature, which is in hex after this prefix. */
  signature: readonly string[];
  prefix?: string;
  event: readonly string[];
}

/** Verifies a forge's HMAC-SHA256 signature over the body. */
export function verifyHook(secret: string, request: WebhookRequest, names: HookHeaders): WebhookDelivery | "refused" {
  const header = (options: readonly string[]) =>
    options.map((name) => request.headers.get(name)).find((value) => value !== null) ?? "";
  const delivery = hmacOf(secret, request.rawBody);
  const { prefix = "" } = names;
  const signature = header(names.signature).toLowerCase();
  if (!isSame(signature, `${prefix}${delivery}`)) return "refused";
  const payload = Payload.safeParse(readHookJson(request.rawBody)).data;
  // The body contains its time, so an equal body is the same delivery.
  return { changes: payload ? changesOf(header(names.event), payload) : [], delivery };
}

/**
 * Returns the reported changes. Deleted comments are named too, because otherwise only a complete listing would show
 * that they no longer exist. Events about content that isn't read change nothing.
 */
function changesOf(event: string, payload: z.infer<typeof Payload>): WebhookChange[] {
  const { repository, issue, pull_request: pull, comment, team, organization, action } = payload;
  const number = issue?.number ?? pull?.number;
  switch (event) {
    case "issues":
    case "pull_request":
    case "issue_assign":
    case "issue_label":
    case "issue_milestone":
    case "pull_request_assign":
    case "pull_request_label":
    case "pull_request_milestone":
    case "pull_request_sync":
      if (!repository || number === undefined || GONE.has(action ?? "")) return [{ t: "delta" }];
      return [{ t: "items", externalIds: [threadId(repository, number)] }];
    case "issue_comment":
      if (!repository || number === undefined || !comment) return [{ t: "delta" }];
      return [{ t: "items", externalIds: [partId(repository, number, `c${comment.id}`)] }];
    case "repository":
    case "member":
    case "public":
    case "team_add":
      if (!repository) return [{ t: "delta" }];
      return [{ t: "delta" }, { t: "groups", ids: FORGE_CONTENT.map((each) => readersGroup(repository.id, each)) }];
    case "team":
      if (!team) return [{ t: "delta" }];
      if (!repository) return [{ t: "groups", ids: [`t${team.id}`] }];
      return [{ t: "groups", ids: FORGE_CONTENT.map((each) => readersGroup(repository.id, each)) }];
    case "organization":
      // A person who leaves the organization also leaves its teams, and loses their direct grants.
      return organization
        ? [{ t: "groups", ids: [`o${organization.id}`, `o${organization.id}.owners`] }, { t: "people" }]
        : [];
    case "installation":
    case "installation_repositories":
      return [{ t: "delta" }];
    case "membership":
      if (!team) return [];
      if (!team.parent) return [{ t: "groups", ids: [`t${team.id}`] }];
      // Members of a team are also members of the teams above it, of which only the nearest is named.
      return [{ t: "groups", ids: [`t${team.id}`, `t${team.parent.id}`] }, { t: "people" }];
    case "push":
    case "create":
    case "delete":
    case "pull_request_comment":
    case "pull_request_review":
    case "pull_request_review_comment":
    case "pull_request_approved":
    case "pull_request_rejected":
    case "pull_request_review_approved":
    case "pull_request_review_rejected":
      return [{ t: "delta" }];
    default:
      return [];
  }
}

const GONE: ReadonlySet<string> = new Set(["deleted", "transferred"]);

const Id = z
  .number()
  .int()
  .positive()
  .transform((id) => String(id));
const Numbered = z.object({ number: z.number().int().positive() });

const Payload = z.object({
  action: z.string().optional(),
  repository: z.object({ id: Id }).nullish(),
  issue: Numbered.nullish(),
  pull_request: Numbered.nullish(),
  comment: z.object({ id: Id }).nullish(),
  team: z.object({ id: Id, parent: z.object({ id: Id }).nullish() }).nullish(),
  organization: z.object({ id: Id }).nullish(),
});
