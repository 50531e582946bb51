import { createContext, use } from "react";
import type { Session } from "#api/session.ts";
import { isAdmin } from "./nav.ts";

/** The signed-in person, provided by the shell. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the signed-in person, the workspace and the role. Only for use inside the shell. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error("useSession belongs below the shell.");
  return session;
}

/** Whether the person is an owner or an admin of the workspace. */
export function useIsAdmin(): boolean {
  return isAdmin(useSession().role);
}
