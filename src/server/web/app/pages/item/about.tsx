import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { FileRecord } from "#api/files.ts";
import type { AnswerValues } from "#api/item-answers.ts";
import {
  convertFields,
  type FieldConversion,
  type FieldName,
  fieldOf,
  type FieldType,
  fieldsIn,
  same,
} from "#api/item-fields.ts";
import { itemAccessQuery } from "#server/web/app/data/item.ts";
import { Fact, Facts } from "#server/web/app/ui/facts.tsx";
import { sentenceCase } from "#server/web/app/ui/sentence-case.ts";
import { Time } from "#server/web/app/ui/time.tsx";
import { WithMailLinks } from "./mail-links.tsx";
import { whoIn, whyVisible } from "./access-words.ts";

/** The number of source fields shown. The API returns all of them. */
const MOST_FIELDS = 12;

/** The fields that have a name on the page, and how each value is shown. */
const NAMED_FIELDS = fieldsIn("file").filter((name) => fieldOf(name).page !== undefined);
const AS_NODE: FieldConversion<AnswerValues, { [T in FieldType]: ReactNode }> = {
  kind: same,
  title: same,
  status: same,
  text: same,
  name: same,
  path: (folders) => folders.join("/"),
  texts: (texts) => texts.join(", "),
  date: (at) => at !== null && <Time at={at} />,
  number: same,
  person: (person) => person?.name,
  people: (people) => people.map(({ name }) => name).join(", "),
  record: () => undefined,
};

/** A mail has dates of its own, so the dates of its file are not shown. */
const DATES_OF_FILE: ReadonlySet<FieldName> = new Set<FieldName>(["createdAt", "updatedAt"]);

/** An item's metadata besides its title and text, and who may see it. */
export function About({ file, isMail }: { file: FileRecord; isMail: boolean }) {
  const { indexedAt, fields } = file;
  const describedFields = new Set(isMail ? [...SAID_FIELDS, ...MAIL_FIELDS] : SAID_FIELDS);
  const isInHead = (name: FieldName) => isMail && (name === "author" ? "from" in fields : DATES_OF_FILE.has(name));
  const nodes = convertFields(NAMED_FIELDS, file, AS_NODE);
  return (
    <Facts>
      {isMail && <MailHead fields={fields} />}
      {NAMED_FIELDS.filter((name) => !isInHead(name)).map((name) => (
        <Fact key={name} label={fieldOf(name).page ?? name}>
          {nodes[name]}
        </Fact>
      ))}
      <Fact label="Indexed">
        <Time at={indexedAt} />
      </Fact>
      {Object.entries(fields)
        .filter(([name]) => !describedFields.has(name))
        .slice(0, MOST_FIELDS)
        .map(([name, value]) => (
          <Fact key={name} label={sentenceCase(wordsOf(name))}>
            {linkedText(value)}
          </Fact>
        ))}
      <Access kbId={file.kbId} />
    </Facts>
  );
}

/** The sender, the recipients and the date, as in the mail's own header. */
function MailHead({ fields: { from = "", to = "", cc = "", date = "" } }: Pick<FileRecord, "fields">) {
  return (
    <>
      <Fact label="From">{linkedText(from)}</Fact>
      <Fact label="To">{linkedText(to)}</Fact>
      <Fact label="Cc">{linkedText(cc)}</Fact>
      <Fact label="Date">{date !== "" && <Moment at={valueText(date)} />}</Fact>
    </>
  );
}

function valueText(value: FileRecord["fields"][string]): string {
  return typeof value === "object" ? value.join(", ") : String(value);
}

/** Turns the addresses in a value into links; undefined if there is nothing to show. */
function linkedText(value: FileRecord["fields"][string]): ReactNode {
  const text = valueText(value);
  return text === "" ? undefined : <WithMailLinks text={text} />;
}

/** Fields whose values are already shown above under another name. */
const SAID_FIELDS = ["documentTitle", "created", "modified", "creator"];
const MAIL_FIELDS = ["from", "to", "cc", "date", "subject", "author", "messageId", "inReplyTo"];

/** Splits `lastEditor` into words. */
function wordsOf(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
}

/** The date of a mail, or the original text if it can't be parsed. */
function Moment({ at }: { at: string }) {
  return Number.isNaN(Date.parse(at)) ? at : <Time at={at} />;
}

/** Why the reader sees the item and, for people who may know, who else does. */
function Access({ kbId }: { kbId: string }) {
  const { data } = useQuery(itemAccessQuery(kbId));
  if (data === undefined) return null;
  const { lists, names } = data;
  const why = whyVisible(lists, names).join(", and ");
  const who = lists.map((list) => whoIn(list, names)).filter((words) => words !== null);
  return (
    <div className="flex gap-3 lg:col-span-2">
      <dt className="text-muted w-24 shrink-0">Access</dt>
      <dd className="min-w-0 wrap-anywhere">
        {why !== "" && <span>You can see this because {why}.</span>}
        {who.length > 0 && (
          <details>
            <summary className="text-accent w-fit">Who can see this</summary>
            <ul className="mt-1 list-disc space-y-0.5 pl-5">
              {[...new Set(who)].map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
            {who.length > 1 && <p className="text-muted mt-1">Only people in all of these lists can read this item.</p>}
          </details>
        )}
      </dd>
    </div>
  );
}
