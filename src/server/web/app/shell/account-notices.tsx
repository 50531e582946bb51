import type { Notice as AccountNotice, Session } from "#api/session.ts";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** What a person must know of their account, above every page. */
export function AccountNotices({ notices }: Pick<Session, "notices">) {
  return notices.map((notice) => (
    <Notice className="mb-4" key={notice.type} tone="warn">
      {notice.type === "password_set" ? <PasswordSet {...notice} /> : <LinkMade {...notice} />}
    </Notice>
  ));
}

function PasswordSet({ at }: AccountNotice) {
  return (
    <>
      Whoever runs this server set the password of your account there (<Time at={at} />
      ). If you did not ask for it, ask them, and set one of your own in{" "}
      <a className="underline" href="/settings/profile">
        your profile
      </a>
      .
    </>
  );
}

function LinkMade({ at, by }: AccountNotice) {
  return (
    <>
      {by ?? "An owner of a workspace of yours"} made a link that sets a new password for your account (<Time at={at} />
      ). Whoever holds such a link can sign in as you. If you did not ask for it, ask them, and look at{" "}
      <a className="underline" href="/settings/sessions">
        where you are signed in
      </a>
      .
    </>
  );
}
