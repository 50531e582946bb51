import { Mark } from "#server/web/app/ui/icon.tsx";

/** The one answer for what is not there and for what a person may not see: it reads the same for both. Source: S25. */
export function NothingHere() {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-4 py-16 text-center">
      <title>Nothing here · kb</title>
      <Mark size={32} />
      <h1 className="mt-4 text-xl" tabIndex={-1}>
        Nothing here
      </h1>
      <p className="text-muted mt-2">
        There is nothing at this address, or you may not see it. Check the address, or the workspace you are in.
      </p>
      <p className="mt-4">
        <a href="/">Go to the start</a>
      </p>
    </div>
  );
}

/** The same as a page of its own, for an address that no page has. */
export function NothingHerePage() {
  return (
    <main>
      <NothingHere />
    </main>
  );
}
