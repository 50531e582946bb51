import { client } from "#server/web/app/data/client.ts";
import { reopenNotices } from "#server/web/app/data/closed-notices.ts";
import { signInAddress } from "#server/web/app/data/return-to.ts";

/** Ends the session and opens the sign-in page. `here` is the page to return to after a change of account. */
export async function signOut(here = "/"): Promise<void> {
  // An expired session answers with 401. In both cases the person is signed out.
  await client.DELETE("/api/session");
  reopenNotices();
  window.location.replace(signInAddress(here));
}
