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
      The operator of this server set a new password for your account (<Time at={at} />
      ). If you didn't ask for this, contact the operator and set your own password in{" "}
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
      {by ?? "A workspace owner"} created a link to reset your password (<Time at={at} />
      ). Anyone with the link can sign in as you. If you didn't ask for this, contact them and review{" "}
      <a className="underline" href="/settings/sessions">
        your sessions
      </a>
      .
    </>
  );
}
