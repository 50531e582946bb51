/** A secret as it may stand in a document. Made in pieces, so that no scanner of repositories takes them for real ones. */
export interface PlantedSecret {
  /** The kind that its mask names. */
  label: string;
  text: string;
  /** The part that must not be found anywhere. */
  secret: string;
}

const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALNUM = LETTERS + DIGITS;

let state = 20_260;

/** The same letters each time: a linear congruential sequence. */
function some(length: number, from: string): string {
  let text = "";
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += from[(state >> 8) % from.length] ?? "";
  }
  return text;
}

function plant(label: string, start: string, length: number, from = ALNUM, end = ""): PlantedSecret {
  const body = some(length, from);
  return { label, text: `${start}${body}${end}`, secret: body };
}

function pem(kind: string, lines = 12): PlantedSecret {
  const body = Array.from({ length: lines }, () => some(64, `${ALNUM}+/`)).join("\n");
  const text = ["-----BEGIN ", `${kind}PRIVATE KEY-----\n${body}\n-----END `, `${kind}PRIVATE KEY-----`].join("");
  return { label: "private key", text, secret: body.slice(70, 110) };
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export const PLANTED_SECRETS: readonly PlantedSecret[] = [
  plant("aws key", "AKIA", 16, BASE32),
  plant("aws key", "ASIA", 16, BASE32),
  plant("aws secret key", "aws_secret_access_key = ", 40, `${ALNUM}+/`),
  plant("aws secret key", "AWS_SECRET_ACCESS_KEY=", 40, `${ALNUM}+/`),
  plant("aws secret key", '"SecretAccessKey": "', 40, `${ALNUM}+/`, '"'),
  plant("aws secret key", "awsSecretAccessKey: ", 40, `${ALNUM}+/`),
  plant("aws secret key", "aws\\_secret\\_access\\_key = ", 40, ALNUM),
  plant("github token", "ghp_", 36),
  plant("github token", "gho_", 36),
  plant("github token", "ghs_", 36),
  plant("github token", "ghp\\_", 36),
  plant("github token", "github_pat_", 82),
  plant("gitlab token", "glpat-", 20),
  plant("gitlab token", "gldt-", 20),
  plant("gitlab token", "glrt-", 20),
  plant("slack token", "xoxb-", 50, `${DIGITS}ABCabc`),
  plant("slack token", "xoxp-", 60, `${DIGITS}ABCabc`),
  plant("slack token", "xapp-1-", 60),
  plant("slack webhook", "https://hooks.slack.com/services/", 44, `${ALNUM}/`),
  plant("stripe key", "sk_live_", 24),
  plant("stripe key", "rk_live_", 24),
  plant("stripe key", "sk_test_", 99),
  plant("stripe key", "sk\\_live\\_", 24),
  plant("stripe key", "whsec_", 32),
  plant("google key", "AIza", 35),
  plant("google token", "ya29.", 80),
  plant("google client secret", "GOCSPX-", 28),
  plant("anthropic key", "sk-ant-", 95),
  plant("openai key", "sk-proj-", 120),
  plant("openai key", "sk-svcacct-", 60),
  plant("openai key", `sk-${some(20, ALNUM)}T3BlbkFJ`, 20),
  plant("npm token", "npm_", 36),
  plant("npm token", "//host.example/:_authToken=npm_", 36),
  plant("pypi token", "pypi-AgEIcHlwaS5vcmc", 120),
  plant("sendgrid key", `SG.${some(22, ALNUM)}.`, 43),
  plant("twilio key", "SK", 32, HEX),
  plant("mailgun key", "key-", 32, HEX),
  plant("digitalocean token", "dop_v1_", 64, HEX),
  plant("azure storage key", "DefaultEndpointsProtocol=https;AccountName=kb;AccountKey=", 86, `${ALNUM}+/`, "=="),
  plant("shopify token", "shpat_", 32, HEX),
  plant("hugging face token", "hf_", 34, LETTERS),
  plant("databricks token", "dapi", 32, HEX),
  plant("linear key", "lin_api_", 40),
  plant("notion token", "secret_", 43),
  plant("notion token", "ntn_", 46),
  plant("docker token", "dckr_pat_", 27),
  plant("grafana token", "glsa_", 41),
  plant("vault token", "hvs.", 90),
  plant("terraform token", `${some(14, ALNUM)}.atlasv1.`, 67),
  plant("telegram token", "123456789:AA", 33),
  plant("web token", `eyJ${some(30, ALNUM)}.eyJ${some(60, ALNUM)}.`, 43),
  plant("age key", "AGE-SECRET-KEY-1", 58, `${BASE32.slice(0, 26)}${DIGITS}`),
  plant("kb token", "kb_pat_", 38),
  plant("kb token", "kb_con_", 38),
  plant("password", "postgres://kb:", 20, ALNUM, "@db.example:5432/kb"),
  plant("password", "postgresql+asyncpg://kb:", 20, ALNUM, "@db/kb"),
  plant("password", "mongodb+srv://admin:", 16, ALNUM, "@cluster.example"),
  plant("password", "redis://:", 24, ALNUM, "@cache:6379"),
  plant("password", "amqps://kb:", 16, ALNUM, "@queue/"),
  pem("RSA "),
  pem(""),
  pem("EC ", 3),
  pem("OPENSSH ", 20),
  pem("ENCRYPTED "),
];
