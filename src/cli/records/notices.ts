import type { LinkNotice, Notice } from "#api/notices.ts";
import { pauseOf, personOf } from "#api/notice-words.ts";
import { minute } from "#cli/terminal/table.ts";

/** Formats notices about a person's account, and for an owner about the workspace; each has one or two sentences. */
export function noticesOf({ notices }: { notices?: readonly Notice[] }): string[] {
  // An older server sends none.
  return (notices ?? []).map((notice) => `Notice: on ${minute(notice.at)} UTC ${sentencesOf(notice)}`);
}

function sentencesOf(notice: Notice): string {
  switch (notice.type) {
    case "password_set":
      return "the operator of the server set the password of your account. If you did not ask for this, contact them and set a new password in your profile.";
    case "reset_link_made":
      return `${notice.by ?? "an owner of your workspace"} created a link that sets a new password for your account. Anyone with the link can sign in as you. If you did not ask for it, contact them and check your sessions: kb open settings`;
    case "event_target_paused":
      return `kb stopped sending events to ${notice.host}, ${pauseOf(notice)}. Events wait for up to 30 days. Fix the target, then run: kb events resume ${notice.targetId}`;
    case "tools_changed":
      return `${notice.by ?? "an admin"} mapped the tools of ${notice.server} differently. kb reads nothing with your connection ${notice.connection} until you agree. Look at the tools, and agree: kb servers agree ${notice.connectionId}`;
    default:
      return linkSentencesOf(notice);
  }
}

function linkSentencesOf(notice: LinkNotice): string {
  const { type, by, member, count, isEnded } = notice;
  const maker = by ?? "an admin";
  const who = personOf(notice);
  switch (type) {
    case "person_linked":
      return `${maker} linked your account to ${who}. ${isEnded ? "The link has ended." : "You can read what they can read there."} If this is not you, contact an owner of your workspace.`;
    case "person_unlinked":
      return `${maker} linked ${who} to another member. Your account was linked to them before. If this is wrong, contact an owner of your workspace.`;
    case "people_linked":
      return `${maker} linked ${member ?? "a former member"} to ${who}${count === 1 ? "" : `, the last of ${count} links`}. Members can read what the people they are linked to can read there. See who is linked: kb connectors people`;
  }
}
