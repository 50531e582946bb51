import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import type { Session } from "#api/session.ts";
import { sessionQuery } from "#server/web/app/data/queries.ts";
import { IconButton } from "#server/web/app/ui/button.tsx";
import { Icon, Mark } from "#server/web/app/ui/icon.tsx";
import { AccountNotices } from "./account-notices.tsx";
import { Loaded } from "./loaded.tsx";
import { isAdmin, NAV, type NavLink } from "./nav.ts";
import { SessionContext } from "./session.ts";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

/** The frame of pages for a signed-in person: the workspace, the navigation and the person. */
export function Shell() {
  const session = useQuery(sessionQuery);
  return (
    <Loaded lines={6} query={session}>
      {(data) => (
        <SessionContext value={data}>
          <a
            className="bg-accent-fill text-on-fill sr-only z-50 rounded-md px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
            href="#main"
          >
            Skip to content
          </a>
          <div className="md:grid md:min-h-dvh md:grid-cols-[15rem_minmax(0,1fr)]">
            <TopBar session={data} />
            <aside className="border-line bg-sunken sticky top-0 hidden h-dvh flex-col border-r md:flex">
              <SideBar session={data} />
            </aside>
            <main className="mx-auto w-full max-w-4xl min-w-0 px-4 py-6 sm:px-8 md:py-8" id="main" tabIndex={-1}>
              <AccountNotices notices={data.notices} />
              <Outlet />
            </main>
          </div>
        </SessionContext>
      )}
    </Loaded>
  );
}

/** The top bar on a narrow screen: the logo, the workspace's name, and the navigation behind a button. */
function TopBar({ session }: { session: Session }) {
  const { pathname } = useLocation();
  // The menu is open only on the page where it was opened, so a change of page closes it.
  const [openOn, setOpenOn] = useState<string>();
  return (
    <header className="border-line bg-sunken sticky top-0 z-20 flex items-center gap-2 border-b px-3 py-1.5 md:hidden">
      <Dialog.Root onOpenChange={(open) => setOpenOn(open ? pathname : undefined)} open={openOn === pathname}>
        <Dialog.Trigger render={<IconButton icon="menu" label="Navigation" />} />
        <Dialog.Portal>
          <Dialog.Backdrop className="bg-veil fixed inset-0 z-30" />
          <Dialog.Popup className="bg-sunken border-line shadow-lift fixed inset-y-0 left-0 z-40 flex w-72 max-w-[85vw] flex-col border-r">
            <Dialog.Title className="sr-only">Navigation</Dialog.Title>
            <div className="absolute top-2 right-2">
              <Dialog.Close render={<IconButton icon="close" label="Close" />} />
            </div>
            <SideBar session={session} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <Mark size={22} />
      <span className="min-w-0 truncate font-medium">{session.workspace.name}</span>
    </header>
  );
}

/** The number of entries that wait for the person. Shows nothing if there are none. */
function Waiting({ query }: { query: NonNullable<NavLink["waits"]> }) {
  const waiting = useQuery(query).data ?? 0;
  if (waiting === 0) return null;
  return (
    <span className="bg-warn-soft text-warn ml-auto rounded-full px-1.5 text-xs font-medium">
      {waiting}
      <span className="sr-only"> waiting for you</span>
    </span>
  );
}

function SideBar({ session }: { session: Session }) {
  return (
    <>
      <div className="px-3 pt-3 pb-2 max-md:pr-12">
        <WorkspaceMenu session={session} />
      </div>
      <nav aria-label="Pages" className="flex-1 overflow-y-auto px-3 py-2">
        {NAV.map(({ title, links }) => (
          <div className="mb-5" key={title ?? ""}>
            {title && <h2 className="text-muted mb-1 px-2 text-xs font-medium">{title}</h2>}
            <ul>
              {links
                .filter(({ isForAdmins }) => !isForAdmins || isAdmin(session.role))
                .map(({ to, label, icon, waits }) => (
                  <li key={to}>
                    <Link
                      activeProps={{ className: "bg-accent-soft text-accent-strong font-medium" }}
                      className="hover:bg-ink/6 flex min-h-8 items-center gap-2.5 rounded-md px-2 max-md:min-h-10"
                      inactiveProps={{ className: "text-ink" }}
                      to={to}
                    >
                      <Icon name={icon} />
                      {label}
                      {waits && <Waiting query={waits} />}
                    </Link>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="border-line border-t p-3">
        <PersonMenu session={session} />
      </div>
    </>
  );
}
