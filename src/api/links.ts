import { Timestamp } from "./common.ts";
import { answer, post, z } from "./route.ts";

/** The secret of a link that was emailed or handed over: the part after `#token=`. */
export const LinkToken = z.string().min(1).max(200);

/** Knowing the link is the authorization. The token is sent in a body, because URLs are stored in logs and histories. */
const CheckLinkBody = z.object({ token: LinkToken });

/** The content of an open invitation before it is accepted. */
export const InvitationOffer = z
  .object({
    workspaceName: z.string(),
    /** Null when the inviter's account no longer exists. */
    inviterName: z.string().nullable(),
    /** Only this address can accept it. */
    email: z.string(),
    expiresAt: Timestamp,
  })
  .openapi("InvitationOffer");
export type InvitationOffer = z.infer<typeof InvitationOffer>;

/** The person whose password the link resets. */
export const ResetOffer = z.object({ email: z.string(), expiresAt: Timestamp }).openapi("ResetOffer");
export type ResetOffer = z.infer<typeof ResetOffer>;

export const linkRoutes = {
  checkInvitation: post(
    "/api/invitations/check",
    "Read an open invitation by its link: who sent it, who is invited, and to which workspace",
    {
      body: CheckLinkBody,
      200: answer("The invitation is open", InvitationOffer),
      problems: ["invitation_invalid"],
    },
  ),
  checkReset: post(
    "/api/password-reset/check",
    "Check whether a password reset link is open, and whose account it is for",
    {
      body: CheckLinkBody,
      200: answer("The link is open", ResetOffer),
      problems: ["link_invalid"],
    },
  ),
};
