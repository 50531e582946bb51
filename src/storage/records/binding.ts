/** What a cursor and a state are good for; what is null was not noted. */
export interface Binding {
  /** JSON of instance, origin and account. */
  place: string;
  /** The account that the source told. */
  account: string | null;
  /** JSON of what it was granted. */
  scopes: string | null;
  /** Which credentials; empty for none. */
  credentials: string | null;
  version: number;
}
