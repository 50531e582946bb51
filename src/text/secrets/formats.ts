/** The format of a kind of secret. */
export interface SecretFormat {
  /** The name in plain words, as in `[removed: github token]`. */
  label: string;
  /** The literal prefixes of the secret. In text that was converted to Markdown a `_` may be escaped; both spellings are found. */
  starts: readonly string[];
  /**
   * The pattern for the part after the prefix. It is sticky, and matches little more than a token's length, because it is tried at each prefix.
   * `WebTokenFinder` finds tokens that may be far longer.
   */
  rest: RegExp | "web token";
  /** The text between the prefix and the secret. It helps to identify the secret but isn't secret itself, so it isn't masked. */
  keeps?: RegExp;
}

/** A letter of a token that may contain `_` and `-`; the `_` may be escaped. */
const LETTER = String.raw`(?:[A-Za-z0-9-]|\\?_)`;
/** The end of a token with a fixed length: a longer run of the same letters isn't such a token. */
const END = "(?![A-Za-z0-9])";

function sticky(pattern: string): RegExp {
  return new RegExp(pattern, "y");
}

/**
 * Formats that are hardly ever anything other than a secret, because a wrong mask would cost a search result. The formats are as their issuers
 * document them. Source: S37.
 */
export const SECRET_FORMATS: readonly SecretFormat[] = [
  { label: "aws key", starts: ["AKIA", "ASIA", "ABIA", "ACCA"], rest: sticky(`[A-Z2-7]{16}${END}`) },
  {
    label: "aws secret key",
    starts: ["secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"],
    keeps: /\\?["']?\s{0,4}[:=]>?\s{0,4}\\?["']?/y,
    rest: /[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/y,
  },
  {
    label: "github token",
    starts: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    rest: sticky(`[A-Za-z0-9]{36,255}${END}`),
  },
  { label: "github token", starts: ["github_pat_"], rest: sticky(`${LETTER}{60,255}`) },
  {
    label: "gitlab token",
    starts: ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-"],
    rest: sticky(`(?:${LETTER}|\\.){20,300}`),
  },
  {
    label: "slack token",
    starts: ["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
    rest: /[A-Za-z0-9%/+-]{10,300}/y,
  },
  { label: "slack token", starts: ["xapp-"], rest: /\d-[A-Za-z0-9-]{20,250}/y },
  {
    label: "slack webhook",
    starts: ["hooks.slack.com/"],
    keeps: /(?:services|workflows|triggers)\//y,
    rest: /[A-Za-z0-9/+-]{20,200}/y,
  },
  {
    label: "stripe key",
    starts: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
    rest: sticky(`[A-Za-z0-9]{16,247}${END}`),
  },
  { label: "stripe key", starts: ["whsec_"], rest: /[A-Za-z0-9+/]{32,200}=?/y },
  { label: "google key", starts: ["AIza"], rest: sticky(`${LETTER}{35}(?![A-Za-z0-9_-])`) },
  { label: "google token", starts: ["ya29."], rest: sticky(`(?:${LETTER}|\\.){20,2000}`) },
  { label: "google client secret", starts: ["GOCSPX-"], rest: sticky(`${LETTER}{28}`) },
  { label: "anthropic key", starts: ["sk-ant-"], rest: sticky(`${LETTER}{20,300}`) },
  {
    label: "openai key",
    starts: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
    rest: sticky(`${LETTER}{20,300}`),
  },
  { label: "openai key", starts: ["sk-"], rest: sticky(`[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}${END}`) },
  { label: "npm token", starts: ["npm_"], rest: sticky(`[A-Za-z0-9]{36}${END}`) },
  { label: "pypi token", starts: ["pypi-AgE"], rest: sticky(`${LETTER}{50,1000}`) },
  { label: "sendgrid key", starts: ["SG."], rest: sticky(`${LETTER}{22}\\.${LETTER}{43}`) },
  { label: "twilio key", starts: ["SK"], rest: sticky(`[0-9a-f]{32}${END}`) },
  { label: "mailgun key", starts: ["key-"], rest: sticky(`[0-9a-f]{32}${END}`) },
  { label: "digitalocean token", starts: ["dop_v1_", "doo_v1_", "dor_v1_"], rest: sticky(`[0-9a-f]{64}${END}`) },
  { label: "azure storage key", starts: ["AccountKey="], keeps: /(?:)/y, rest: /[A-Za-z0-9+/]{86}==/y },
  {
    label: "shopify token",
    starts: ["shpat_", "shpca_", "shppa_", "shpss_"],
    rest: sticky(`[0-9a-fA-F]{32}${END}`),
  },
  { label: "hugging face token", starts: ["hf_"], rest: sticky(`[A-Za-z]{34}${END}`) },
  { label: "databricks token", starts: ["dapi"], rest: sticky(`[0-9a-f]{32}(?:-\\d)?${END}`) },
  { label: "linear key", starts: ["lin_api_", "lin_oauth_"], rest: sticky(`[A-Za-z0-9]{40,64}${END}`) },
  { label: "notion token", starts: ["ntn_", "secret_"], rest: sticky(`[A-Za-z0-9]{43,50}${END}`) },
  { label: "docker token", starts: ["dckr_pat_"], rest: sticky(`${LETTER}{27,60}`) },
  { label: "grafana token", starts: ["glsa_", "glc_"], rest: sticky(`(?:[A-Za-z0-9+/=]|\\\\?_){32,300}`) },
  { label: "vault token", starts: ["hvs.", "hvb.", "hvr."], rest: sticky(`${LETTER}{24,300}`) },
  // The fourteen letters before the prefix grant nothing on their own.
  { label: "terraform token", starts: [".atlasv1."], rest: sticky(`(?:${LETTER}|=){60,70}`) },
  { label: "web token", starts: ["eyJ"], rest: "web token" },
  { label: "age key", starts: ["AGE-SECRET-KEY-1"], rest: /[0-9A-Z]{58}/y },
  { label: "kb token", starts: ["kb_pat_", "kb_con_"], rest: sticky(`[A-Za-z0-9]{32,64}${END}`) },
  {
    label: "password",
    starts: ["postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql", "clickhouse"],
    // User and host aren't secret. `<password>`, `$PGPASSWORD` and other placeholders aren't secret either.
    keeps: /(?:ql|s)?(?:\+[a-z0-9]{1,20})?:\/\/[^\s:/@]{0,64}:/y,
    rest: /(?!(?:password|passwd|pass|secret|pwd|x+)@)[^\s/@"'<>${%*[][^\s/@"'<>]{2,200}(?=@[^\s@])/y,
  },
];

/** Telegram bot tokens begin with the bot's number, so they are searched for at the start of a number. */
export const NUMBER_FORMAT: Omit<SecretFormat, "starts"> & { rest: RegExp } = {
  label: "telegram token",
  rest: sticky(`\\d{8,10}:AA${LETTER}{33}(?![A-Za-z0-9_-])`),
};
