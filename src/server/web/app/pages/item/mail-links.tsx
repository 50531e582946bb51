import type { ReactNode } from "react";

/** The lengths are bounded, so that no text makes the search for addresses slow. */
const ADDRESS = /(?<![\w.+-])([\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})(?![\w@-])/gi;

/** Shows a text in which each email address is a link that opens a message to it. */
export function WithMailLinks({ text }: { text: string }): ReactNode {
  return text.split(ADDRESS).map((part, at) =>
    at % 2 === 1 ? (
      // oxlint-disable-next-line react/no-array-index-key -- the parts of a text stay where they are
      <a className="text-accent hover:text-accent-strong underline underline-offset-2" href={hrefOf(part)} key={at}>
        {part}
      </a>
    ) : (
      part
    ),
  );
}

/** Some programs read `+` as a space. */
function hrefOf(address: string): string {
  return `mailto:${address.replaceAll("+", "%2B")}`;
}
