/** The table of an item's fields in `docs/fields.md`, from their one description. */
import { FIELD_NAMES, fieldOf, type FieldType, type ItemField } from "#api/item-fields.ts";
import { alignTable } from "./table.ts";

const TABLE = /(<!-- The table of `src\/api\/item-fields\.ts`, made by `npm run gen`\. -->\n\n)(?:\|.*\n)+/;

/** The page with the table as the fields are now. @throws when the page has no place for it */
export function refreshFields(page: string): string {
  if (!TABLE.test(page)) throw new Error("docs/fields.md has no table of the fields.");
  return page.replace(TABLE, (_table, head: string) => `${head}${makeTable()}`);
}

function makeTable(): string {
  const rows = FIELD_NAMES.map((name) => {
    const field = fieldOf(name);
    return [
      `\`${name}\``,
      field.about,
      VALUES[field.type](field),
      searchOf(field),
      filterOf(field, name),
      shownIn(field),
    ];
  });
  return alignTable([["field", "what it says", "value", "words searched", "filter", "shown in"], ...rows]);
}

const text = ({ maxChars = 0 }: ItemField) => `text, up to ${maxChars.toLocaleString("en-US")} characters`;
const texts = ({ maxValues = 0 }: ItemField) => `list of up to ${maxValues} texts`;

const VALUES: Record<FieldType, (field: ItemField) => string> = {
  kind: () => "one of these",
  title: text,
  status: () => "one of these",
  text,
  name: text,
  path: texts,
  texts,
  date: () => "date",
  number: () => "number",
  person: () => "person",
  people: ({ maxValues = 0 }) => `list of up to ${maxValues} people`,
  record: () => "names and values",
};

function searchOf({ searched }: ItemField): string {
  return searched === undefined ? "" : searched === "title" ? "like the title" : "like the path";
}

function filterOf({ argument, isPair }: ItemField, name: string): string {
  const ways = [
    ...(argument === undefined ? [] : [`\`${argument}\``]),
    ...(isPair ? [`\`${name}:…\` in a query`] : []),
  ];
  return ways.join(", ");
}

function shownIn({ type, answers, agent, page }: ItemField): string {
  const places = [
    ...(answers.includes("file") ? ["file"] : []),
    ...(answers.includes("result") ? ["hit"] : []),
    // Every hit begins with its kind and title.
    ...(type === "kind" || type === "title" ? ["agents"] : []),
    ...(agent === undefined ? [] : [`agents (\`${agent.as}\`)`]),
    ...(page === undefined ? [] : ["page"]),
  ];
  return places.join(", ");
}
