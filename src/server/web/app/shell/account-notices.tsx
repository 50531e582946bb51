import { type ReactNode, useState } from "react";
import type { EventTargetNotice, LinkNotice, Notice as AccountNotice, ToolsNotice } from "#api/notices.ts";
import { pauseOf, personOf } from "#api/notice-words.ts";
import type { Session } from "#api/session.ts";
import { closedNotices, closeNotice } from "#server/web/app/data/closed-notices.ts";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Notices about a person's account and, for owners, about the workspace, shown above every page. */
export function AccountNotices({ notices }: Pick<Session, "notices">) {
  const [closed, setClosed] = useState(closedNotices);
  const close = (key: string) => setClosed(closeNotice(key));
  return notices
    .filter((notice) => !closed.includes(keyOf(notice)))
    .map((notice) => (
      <Notice className="mb-4" key={keyOf(notice)} onClose={() => close(keyOf(notice))} tone="warn">
        {sentencesOf(notice)}
      </Notice>
    ));
}

function keyOf(notice: AccountNotice): string {
  const principal = "person" in notice ? notice.person.principal : "targetId" in notice ? notice.targetId : "";
  const connection = "connectionId" in notice ? notice.connectionId : "";
  return [notice.type, notice.at, notice.by, principal, connection].join(" ");
}

function sentencesOf(notice: AccountNotice): ReactNode {
  switch (notice.type) {
    case "password_set":
      return <PasswordSet at={notice.at} />;
    case "reset_link_made":
      return <LinkMade at={notice.at} by={notice.by} />;
    case "event_target_paused":
      return <TargetPaused {...notice} />;
    case "tools_changed":
      return <ToolsChanged {...notice} />;
    default:
      return <PersonLinked {...notice} />;
  }
}

function PasswordSet({ at }: { at: string }) {
  return (
    <>
      The operator of this server set a new password for your account (<Time at={at} />
      ). If you didn't ask for this, contact the operator and set your own password in{" "}
      <a className="underline" href="/settings/profile">
        your profile
      </a>
      .
    </>
  );
}

function LinkMade({ at, by }: Pick<AccountNotice, "at" | "by">) {
  return (
    <>
      {by ?? "A workspace owner"} created a link to reset your password (<Time at={at} />
      ). Anyone with the link can sign in as you. If you didn't ask for this, contact them and review{" "}
      <a className="underline" href="/settings/sessions">
        your sessions
      </a>
      .
    </>
  );
}

function TargetPaused({ at, host, reason, targetId }: EventTargetNotice) {
  return (
    <>
      kb stopped sending events to {host} (<Time at={at} />
      ), {pauseOf({ reason })}. Its events wait.{" "}
      <a className="underline" href={`/workspace/events/${targetId}`}>
        See the event target
      </a>
    </>
  );
}

function ToolsChanged({ at, by, connection, server, serverId }: ToolsNotice) {
  return (
    <>
      {by ?? "An admin"} mapped the tools of {server} differently (<Time at={at} />
      ). kb reads nothing with your connection {connection} until you agree.{" "}
      <a className="underline" href={`/workspace/servers/${serverId}`}>
        See the tools
      </a>
    </>
  );
}

function PersonLinked(notice: LinkNotice) {
  const { type, at, by, member, count, isEnded } = notice;
  const maker = by ?? "An admin";
  const who = personOf(notice);
  switch (type) {
    case "person_linked":
      return (
        <>
          {maker} linked your account to {who} (<Time at={at} />
          ). {isEnded ? "The link has ended." : "You can read what they can read there."} If this isn't you, contact a
          workspace owner.
        </>
      );
    case "person_unlinked":
      return (
        <>
          {maker} linked {who} to another member (<Time at={at} />
          ). Your account was linked to them before. If this is wrong, contact a workspace owner.
        </>
      );
    case "people_linked":
      return (
        <>
          {maker} linked {member ?? "a former member"} to {who} (<Time at={at} />
          {count > 1 && `, the last of ${count} links`}
          ). Members can read what the people they are linked to can read there.
        </>
      );
  }
}
