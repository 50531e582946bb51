import { ApiError } from "./errors.ts";

type Values = Readonly<Record<string, unknown>>;

/** The parameters in a call's URL: values for the braces, and the query. */
export interface Params {
  path?: object | undefined;
  query?: object | undefined;
}

/** Returns the path and query of a call to `path` of the contract. @throws ApiError for an id that would change the path outside its segment */
export function targetOf(path: string, { path: values = {}, query = {} }: Params = {}): string {
  const filled = fillPath(path, { ...values });
  const search = toQuery({ ...query }).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

/** Lists are repeated, and undefined values are omitted. */
export function toQuery(query: Values): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value].flat().flatMap((one): [string, string][] => (one === undefined ? [] : [[key, String(one)]])),
  );
  return new URLSearchParams(pairs);
}

/** Inserts the values into the path. An id always stays inside its segment; dots are refused, because even encoded dots would leave it. */
function fillPath(path: string, values: Values): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const id = String(values[name]);
    if (/^\.{0,2}$/.test(id)) throw new ApiError("invalid_request", { message: `"${id}" is not an ID.` });
    return encodeURIComponent(id);
  });
}
