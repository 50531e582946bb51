/**
 * Names of files that contain secrets and nothing that a reader would search for. Every source of files leaves them out
 * (`excluded_by_policy`) unless its connector sets `secretFiles`. The decision is by name alone, so no content is read
 * for it. Source: S37.
 */

/** Returns true if a file of this name (last path segment, any case) is on the list. */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_NAMES.some((pattern) => pattern.test(lower)) && !HARMLESS.test(lower);
}

/**
 * Names that are harmless: templates contain only placeholders and documentation, and public keys contain no secret.
 */
const HARMLESS = /^\.?env\.(example|sample|template|dist|defaults)$|\.(example|sample|template|dist)$|\.pub$/;

const SECRET_NAMES: readonly RegExp[] = [
  // SSH and PGP
  /^id_(rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk)([._-].*)?$/,
  /^ssh_host_.*_key$/,
  /^secring\.(gpg|pgp|asc)$/,
  // Keys, certificates with keys, key stores
  /\.(pem|key|ppk|p8|p12|pfx|pkcs12|jks|jceks|keystore|bks)$/,
  // Password managers, wallets
  /\.(kdb|kdbx|agilekeychain|opvault|1pif|keychain|keychain-db)$/,
  /^wallet\.dat$/,
  // Infrastructure
  /\.tfstate(\.backup|\..*)?$/,
  /\.tfvars(\.json)?$/,
  /^kubeconfig/,
  /\.kubeconfig$/,
  /\.ovpn$/,
  /^service[-_]account.*\.json$/,
  /[-_.]service[-_]account.*\.json$/,
  /^client_secret.*\.json$/,
  /^application_default_credentials\.json$/,
  /^\.?vault[-_](token|pass(word)?)([._-].*)?$/,
  // Collections of secrets
  /^\.?credentials/,
  /^\.?secrets?\.(ya?ml|json|toml|ini|env|txt|properties)(\..*)?$/,
  /^(.*\.)?env$/,
  /^\.?env\..+$/,
  /^[._](netrc|pgpass|pypirc|npmrc|htpasswd|git-credentials|dockercfg|s3cfg|my\.cnf|boto)$/,
  /^htpasswd$/,
  /^g?shadow-?$/,
];
