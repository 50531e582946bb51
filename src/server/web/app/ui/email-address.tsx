import { Fragment } from "react";

/** An email address that wraps before its `@` and its dots, and inside a word only if nothing else fits. */
export function EmailAddress({ address }: { address: string }) {
  return (
    <span className="wrap-break-word">
      {address.split(/(?=[@.])/).map((part, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- the parts of an address stay where they are
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
